# embed.awk - writes text files as C strings: awk -f embed.awk FILE... > embedded.c
# One literal per line of text; C99's limit of 4095 characters per string is lifted by -Wno-overlength.
function finish() { if (name != "") print "    }," }
FNR == 1 { finish(); name = FILENAME; printf "    { \"%s\",\n", name }
{
    gsub(/\\/, "&&"); gsub(/"/, "\\\""); gsub(/\t/, "\\t")
    gsub(/\?\?/, "?\"\"?") # no trigraphs
    printf "      \"%s\\n\"\n", $0
}
BEGIN {
    print "#include \"base/embedded.h\"\n"
    print "const struct embedded_file embedded_files[] = {"
}
END {
    finish()
    print "};\n"
    printf "const size_t n_embedded_files = %d;\n", ARGC - 1
}
