# What floats lose of 1025 times -2^-26 beside 432 decides between two codes of FP8, 416 and 448: neighbours, so right is either, as a code and as a number that has been one.
$ npy() { python3 -c "import struct, sys; v = $1; sys.stdout.buffer.write(b'\x93NUMPY\1\0' + struct.pack('<H', 118) + b'{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1, 1026)}'.ljust(117) + b'\n' + struct.pack('<1026f', *v))"; }; npy '[432] + [-2**-26] * 1025' >tie.npy; npy '[2**30] + [60 / 1024] * 1024 + [-2**30]' >lost.npy
$ relayc verify $MODELS/sum_fp8.onnx -i x=tie.npy -i z=tie.npy | sed 1d
layer                                shape                 largest     oneDNN  generated
code                                 1                         416    7.7e-02    7.7e-02
number                               1                         416    7.7e-02    7.7e-02
worst of 2 layers (tolerance 1e-04, or a step where a layer quantises)    7.7e-02    7.7e-02
the whole network                                                     7.7e-02    7.7e-02
oneDNN ran 5 operators, the reference evaluator 0
# Here all of the sum is lost: 0, where 60 is wanted and a step is 4.
$ relayc verify $MODELS/sum_fp8.onnx -i x=lost.npy -i z=lost.npy -q
error[R0403]: the generated C differs from the reference in layer 'code'; largest error 1.00e+00, tolerance 6.68e-02
 --> MODELS/sum_fp8.onnx: node #0 "ReduceSum_0" (ReduceSum)
[1]
