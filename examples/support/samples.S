/* samples.S - what samples.py wrote, as it is, in read-only memory. The assembler finds it with -Wa,-I. */
        .section .rodata.judge, "a"
        .balign 64
        .global judge_samples
judge_samples:
        .incbin "samples.bin"

        .balign 64
        .global judge_results
judge_results:
        .incbin "results.bin"

        .balign 64
        .global judge_labels
judge_labels:
        .incbin "labels.bin"
        .global judge_labels_end
judge_labels_end:

#ifdef __linux__
        .section .note.GNU-stack, "", %progbits
#endif
