# scalars.awk - from codegen_c/expr/scalar_ops.def to C: a function per operator of f32 with one or two
# operands, and the table scalars_f32 (simulate/scalar.h). A row is SCALAR(op, kinds, "text", "needs").
BEGIN {
    FS = "\""
    print "/* Made of codegen_c/expr/scalar_ops.def by simulate/scalars.awk. */"
    print "#include \"simulate/scalar.h\"\n"
    print "#include <math.h>"
}
/^SCALAR\(/ {
    split($1, head, /[(, ]+/)
    op = head[2]
    if (head[3] !~ /^(F32|FLOAT|NUMBER|ANY|BITS)$/ || op in text || $2 ~ /\$[cABwn]/)
        next
    text[op] = $2
    order[++n] = op
    has_attributes[op] = $2 ~ /\$[pq]/
    gsub(/\$t/, "float", text[op])
    gsub(/\$f/, "f", text[op])
    gsub(/\$d/, "f32", text[op])
    gsub(/\$/, "", text[op])
    gsub(/\$d/, "f32", $4)
    n_needs = split($4, needs, " ")
    for (i = 1; i <= n_needs; i++)
        if (needs[i] !~ /\.h$/ && !(needs[i] in included)) {
            included[needs[i]]
            print "#include \"runtime/embed/" needs[i] ".h\""
        }
}
END {
    for (i = 1; i <= n; i++) {
        op = order[i]
        printf "\nstatic float scalar_%s(float a, float b, float p, float q)\n{\n", op
        printf "    (void)a, (void)b, (void)p, (void)q;\n    return %s;\n}\n", text[op]
    }
    print "\nconst struct scalar scalars_f32[OP_COUNT] = {"
    for (i = 1; i <= n; i++)
        printf "    [OP_%s] = { scalar_%s, %s },\n", order[i], order[i], has_attributes[order[i]] ? "true" : "false"
    print "};"
}
