/* test_set.S - the two .npy files as they are, in read-only memory. The assembler finds them with
 * -Wa,-I. An .npy file pads its header, so that aligned here means aligned numbers. */
        .section .rodata
        .balign 64
        .global test_images
test_images:
        .incbin "test_images.npy"

        .balign 64
        .global test_labels
test_labels:
        .incbin "test_labels.npy"
        .global test_labels_end
test_labels_end:

#ifdef __linux__
        .section .note.GNU-stack, "", %progbits
#endif
