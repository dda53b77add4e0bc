// compile.cpp - the same from C++11: compile MODEL FOLDER [NAME=VALUE ...].
#include <relayc/relayc.h>

#include <iostream>
#include <memory>
#include <string>

int main(int argc, char **argv)
{
    const std::unique_ptr<relayc_context, void (*)(relayc_context *)> relayc(relayc_new(), relayc_free);
    relayc_status status = relayc_set(relayc.get(), "output-dir", argv[2]);

    for (int i = 3; i < argc && status == RELAYC_OK; i++) {
        const std::string text = argv[i];
        const auto equals = text.find('=');
        const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);

        status = relayc_set(relayc.get(), text.substr(0, equals).c_str(),
                            equals == std::string::npos ? nullptr : value.c_str());
    }
    if (status == RELAYC_OK)
        status = relayc_compile(relayc.get(), argv[1]);
    for (auto d = relayc_next_diagnostic(relayc.get(), nullptr); d; d = relayc_next_diagnostic(relayc.get(), d))
        std::cerr << relayc_diagnostic_code(d) << ": " << relayc_diagnostic_message(d) << '\n';
    for (size_t i = 0; relayc_file(relayc.get(), i); i++)
        std::cout << relayc_file(relayc.get(), i) << '\n';
    return status;
}
