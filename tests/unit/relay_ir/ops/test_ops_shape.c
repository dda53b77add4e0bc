#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/op_case.h"

static const struct op_case views[] = {
    { "reshape", "{shape=[3,-1]}", "f32[2,3] 1 2 3 4 5 6", "f32[3,2] 1 2 3 4 5 6", NULL },
    { "reshape", "{shape=[]}", "i64[1,1] 7", "i64[] 7", NULL },
    { "reshape", "{shape=[1,-1]}", "bool[] 1", "bool[1,1] 1", NULL },
    { "reshape", "{shape=[0,5]}", "f32[2,0]", "f32[0,5]", NULL },
    { "reshape", "{shape=[-1,2]}", "f32[2,0]", "f32[0,2]", NULL },
    { "reshape", "{shape=[2]}", "f8e4m3[2,1] 0x7f 1", "f8e4m3[2] 0x7f 1", NULL },
    { "squeeze", "{axes=[0,-1]}", "f32[1,2,1] 5 6", "f32[2] 5 6", NULL },
    { "squeeze", "{axes=[]}", "f32[1,2,1] 5 6", "f32[2] 5 6", NULL },
    { "squeeze", "{axes=[]}", "f32[1,1] 5", "f32[] 5", NULL },
    { "squeeze", "{axes=[]}", "f32[] 5", "f32[] 5", NULL },
    { "expand_dims", "{axes=[0,-1]}", "f32[2] 5 6", "f32[1,2,1] 5 6", NULL },
    { "expand_dims", "{axes=[2,0]}", "f32[2] 5 6", "f32[1,2,1] 5 6", NULL },
    { "expand_dims", "{axes=[0]}", "f32[] 5", "f32[1] 5", NULL },
    { "reshape", "{shape=[4]}", "f32[2,3] 1", "", "shape 2x3 has 6 elements, 4 has 4" },
    { "reshape", "{shape=[-1,4]}", "f32[2,3] 1", "", "no extent for the -1 makes 6 elements" },
    { "reshape", "{shape=[-1,0]}", "f32[2,3] 1", "", "no extent for the -1 makes 6 elements" },
    { "reshape", "{shape=[-1,-1]}", "f32[2,3] 1", "", "only one dimension of the new shape" },
    { "reshape", "{shape=[-2,-3]}", "f32[2,3] 1", "", "negative dimension" },
    { "reshape", "{shape=[4294967296,4294967296,-1]}", "f32[2] 1", "", "is too big" },
    { "reshape", "{shape=[1,1,1,1,1,1,1,1,1]}", "f32[] 1", "",
      "has rank 9, relayc takes at most 8" },
    { "squeeze", "{axes=[1]}", "f32[1,2] 1", "", "dimension 1 of shape 1x2 is 2, only 1 can be" },
    { "squeeze", "{axes=[0,-2]}", "f32[1,1] 1", "", "axis 0 is given twice" },
    { "squeeze", "{axes=[2]}", "f32[1,1] 1", "", "axis 2 is out of range for rank 2" },
    { "expand_dims", "{axes=[3]}", "f32[2] 1", "", "axis 3 is out of range for rank 2" },
    { "expand_dims", "{axes=[0,1]}", "f32[1,1,1,1,1,1,1] 1", "", "has rank 9" },
};

static const struct op_case moves[] = {
    { "transpose", "{axes=[1,0]}", "f32[2,3] 1 2 3 4 5 6", "f32[3,2] 1 4 2 5 3 6", NULL },
    { "transpose", "{axes=[]}", "i16[2,1,3] 1 2 3 4 5 6", "i16[3,1,2] 1 4 2 5 3 6", NULL },
    { "transpose", "{axes=[1,2,0]}", "u8[2,2,2] 0 1 2 3 4 5 6 7", "u8[2,2,2] 0 4 1 5 2 6 3 7",
      NULL },
    { "transpose", "{axes=[0,-1,1]}", "f64[1,2,2] 1 2 3 4", "f64[1,2,2] 1 3 2 4", NULL },
    { "transpose", "{axes=[]}", "f32[] 3", "f32[] 3", NULL },
    { "transpose", "{axes=[1,0]}", "f32[0,3]", "f32[3,0]", NULL },
    { "transpose", "{axes=[0]}", "f32[2,3] 1", "",
      "axes has 1 entries, expected one per dimension" },
    { "transpose", "{axes=[0,0]}", "f32[2,3] 1", "", "axis 0 is given twice" },
    { "transpose", "{axes=[0,2]}", "f32[2,3] 1", "", "axis 2 is out of range for rank 2" },
    { "concatenate", "{axis=0}", "f32[1,2] 1 2; f32[2,2] 3 4 5 6", "f32[3,2] 1 2 3 4 5 6", NULL },
    { "concatenate", "{axis=-1}", "i64[2,1] 1 2; i64[2,0]; i64[2,2] 3 4 5 6",
      "i64[2,3] 1 3 4 2 5 6", NULL },
    { "concatenate", "{axis=0}", "bool[2] 1 0", "bool[2] 1 0", NULL },
    { "concatenate", "{axis=2}", "f32[1,2] 1; f32[1,2] 1", "", "axis 2 is out of range" },
    { "concatenate", "{axis=0}", "f32[] 1; f32[] 1", "",
      "axis 0 is out of range for shape scalar" },
    { "concatenate", "{axis=0}", "f32[1,2] 1; f32[1,3] 1", "",
      "1x2 and 1x3 differ in more than axis" },
    { "concatenate", "{axis=0}", "f32[1,2] 1; f32[2] 1", "",
      "1x2 and 2 differ in more than axis 0" },
    { "concatenate", "{axis=0}", "f32[2] 1; i32[2] 1", "",
      "inputs 0 and 1 of concatenate are f32" },
    { "concatenate", "{axis=0}", "f32[2] 1; _", "", "input 1 of concatenate is missing" },
    { "split", "{axis=1, sizes=[1,2]}", "f32[2,3] 1 2 3 4 5 6", "f32[2,1] 1 4; f32[2,2] 2 3 5 6",
      NULL },
    { "split", "{axis=-2, sizes=[]}", "f32[2,2] 1 2 3 4", "f32[1,2] 1 2; f32[1,2] 3 4", NULL },
    { "split", "{axis=0, sizes=[0,2]}", "f32[2] 1 2", "f32[0]; f32[2] 1 2", NULL },
    { "split", "{axis=0, sizes=[]}", "f32[3] 1", ";", "cannot be split into these sizes" },
    { "split", "{axis=0, sizes=[1,1]}", "f32[3] 1", ";", "the sizes leave 1 of axis 0" },
    { "split", "{axis=0, sizes=[3,1]}", "f32[3] 1", ";", "cannot be split into these sizes" },
    { "split", "{axis=0, sizes=[4,-1]}", "f32[3] 1", ";", "cannot be split into these sizes" },
    { "split", "{axis=0, sizes=[1,1,1]}", "f32[3] 1", ";", "split has 3 sizes for 2 outputs" },
    { "split", "{axis=1, sizes=[]}", "f32[3] 1", ";", "axis 1 is out of range for shape 3" },
    { "tile", "{shape=[2,2]}", "f32[1,2] 1 2", "f32[2,4] 1 2 1 2 1 2 1 2", NULL },
    { "tile", "{shape=[1,3]}", "i8[2,1] 1 2", "i8[2,3] 1 1 1 2 2 2", NULL },
    { "tile", "{shape=[0,3]}", "i8[2,1] 1 2", "i8[0,3]", NULL },
    { "tile", "{shape=[]}", "f32[] 4", "f32[] 4", NULL },
    { "tile", "{shape=[2]}", "f32[1,2] 1", "", "shape has 1 entries" },
    { "tile", "{shape=[-1]}", "f32[2] 1", "", "axis 0 of shape 2 cannot be repeated -1 times" },
    { "tile", "{shape=[9223372036854775807]}", "f32[2] 1", "",
      "cannot be repeated 9223372036854775807" },
    { "tile", "{shape=[1099511627776]}", "f32[2] 1", "", "is too big" },
    { "broadcast_to", "{shape=[2,3]}", "f32[3] 1 2 3", "f32[2,3] 1 2 3 1 2 3", NULL },
    { "broadcast_to", "{shape=[1]}", "f32[2,1] 1 2", "f32[2,1] 1 2",
      NULL }, /* both ways, as Expand */
    { "broadcast_to", "{shape=[2,1,2]}", "i32[2,1] 1 2", "i32[2,2,2] 1 1 2 2 1 1 2 2", NULL },
    { "broadcast_to", "{shape=[0,2]}", "i32[2] 1 2", "i32[0,2]", NULL },
    { "broadcast_to", "{shape=[]}", "f32[] 9", "f32[] 9", NULL },
    { "broadcast_to", "{shape=[2,2]}", "f32[3] 1", "", "shape 3 does not broadcast to 2x2" },
    { "broadcast_to", "{shape=[-1,3]}", "f32[3] 1", "", "negative dimension" },
};

static const struct op_case slices[] = {
    { "strided_slice", "{begin=[1], strides=[1], size=[2]}", "f32[4] 1 2 3 4", "f32[2] 2 3", NULL },
    { "strided_slice", "{begin=[3], strides=[-2], size=[2]}", "f32[4] 1 2 3 4", "f32[2] 4 2",
      NULL },
    { "strided_slice", "{begin=[0,2], strides=[1,-1], size=[2,3]}", "i64[2,3] 1 2 3 4 5 6",
      "i64[2,3] 3 2 1 6 5 4", NULL },
    { "strided_slice", "{begin=[1,0], strides=[3,2], size=[1,2]}", "i8[2,3] 1 2 3 4 5 6",
      "i8[1,2] 4 6", NULL },
    { "strided_slice", "{begin=[4], strides=[1], size=[0]}", "f32[4] 1", "f32[0]", NULL },
    { "strided_slice", "{begin=[0], strides=[1], size=[0]}", "f32[0]", "f32[0]", NULL },
    { "strided_slice", "{begin=[], strides=[], size=[]}", "f32[] 2", "f32[] 2", NULL },
    { "strided_slice", "{begin=[3], strides=[1], size=[2]}", "f32[4] 1", "",
      "are not within axis 0" },
    { "strided_slice", "{begin=[0], strides=[9223372036854775807], size=[1]}", "f32[4] 1", "",
      "are not within axis 0" },
    { "strided_slice", "{begin=[5], strides=[1], size=[0]}", "f32[4] 1", "",
      "are not within axis 0" },
    { "strided_slice", "{begin=[-1], strides=[1], size=[1]}", "f32[4] 1", "",
      "1 elements from -1" },
    { "strided_slice", "{begin=[1], strides=[-1], size=[3]}", "f32[4] 1", "",
      "are not within axis 0" },
    { "strided_slice", "{begin=[1], strides=[4611686018427387904], size=[5]}", "f32[4] 1", "",
      "are not within axis 0" },
    { "strided_slice", "{begin=[0], strides=[0], size=[1]}", "f32[4] 1", "",
      "stride of axis 0 is 0" },
    { "strided_slice", "{begin=[0], strides=[1], size=[-1]}", "f32[4] 1", "",
      "-1 elements from 0" },
    { "strided_slice", "{begin=[0,0], strides=[1], size=[1]}", "f32[4] 1", "",
      "begin has 2 entries" },
    { "strided_slice", "{begin=[0], strides=[], size=[1]}", "f32[4] 1", "",
      "strides has 0 entries" },
    { "strided_slice", "{begin=[0], strides=[1], size=[1,1]}", "f32[4] 1", "",
      "size has 2 entries" },
};

#define PAD(before, after, mode, value)                                                            \
    "{pad_before=[" before "], pad_after=[" after "], mode=\"" mode "\", value=" value "}"

static const struct op_case pads[] = {
    { "nn.pad", PAD("1", "2", "constant", "0"), "f32[2] 5 6", "f32[5] 0 5 6 0 0", NULL },
    { "nn.pad", PAD("1", "0", "", "-1.5"), "f32[1] 5", "f32[2] -1.5 5", NULL },
    { "nn.pad", PAD("0,1", "1,0", "constant", "9"), "i64[1,2] 1 2", "i64[2,3] 9 1 2 9 9 9", NULL },
    { "nn.pad", PAD("1,0", "0,0", "constant", "1"), "bool[1,2] 0 0", "bool[2,2] 1 1 0 0", NULL },
    { "nn.pad", PAD("1", "1", "constant", "0"), "f8e4m3[1] 0x7f", "f8e4m3[3] 0 0x7f 0", NULL },
    { "nn.pad", PAD("2", "2", "reflect", "0"), "f32[3] 1 2 3", "f32[7] 3 2 1 2 3 2 1", NULL },
    { "nn.pad", PAD("5", "0", "reflect", "0"), "f32[3] 1 2 3", "f32[8] 2 1 2 3 2 1 2 3", NULL },
    { "nn.pad", PAD("2", "1", "reflect", "0"), "f32[1] 7", "f32[4] 7", NULL },
    { "nn.pad", PAD("2", "1", "edge", "0"), "f32[2] 1 2", "f32[5] 1 1 1 2 2", NULL },
    { "nn.pad", PAD("3", "1", "wrap", "0"), "f32[2] 1 2", "f32[6] 2 1 2 1 2 1", NULL },
    { "nn.pad", PAD("1,1", "0,1", "edge", "0"), "i8[2,2] 1 2 3 4",
      "i8[3,4] 1 1 2 2 1 1 2 2 3 3 4 4", NULL },
    { "nn.pad", PAD("-1", "-1", "constant", "0"), "f32[4] 1 2 3 4", "f32[2] 2 3", NULL },
    { "nn.pad", PAD("-1", "2", "constant", "0"), "f32[3] 1 2 3", "f32[4] 2 3 0 0", NULL },
    { "nn.pad", PAD("-1", "2", "wrap", "0"), "f32[3] 1 2 3", "f32[4] 2 3 2 3", NULL },
    { "nn.pad", PAD("-2", "-1", "reflect", "0"), "f32[3] 1 2 3", "f32[0]", NULL },
    { "nn.pad", PAD("1", "1", "constant", "4"), "f32[0]", "f32[2] 4 4", NULL },
    { "nn.pad", PAD("", "", "constant", "4"), "f32[] 1", "f32[] 1", NULL },
    { "nn.pad", PAD("0,1", "0,0", "edge", "0"), "f32[0,2]", "f32[0,3]", NULL },
    { "nn.pad", PAD("1", "0", "edge", "0"), "f32[0]", "",
      "axis 0 of shape 0 has no element to pad" },
    { "nn.pad", PAD("-3", "1", "reflect", "0"), "f32[3] 1", "", "has no element to pad with" },
    { "nn.pad", PAD("-4", "4", "constant", "0"), "f32[3] 1", "",
      "axis 0 of shape 3 cannot be padded" },
    { "nn.pad", PAD("9223372036854775807", "1", "constant", "0"), "f32[3] 1", "",
      "cannot be padded" },
    { "nn.pad", PAD("-9223372036854775808", "1", "constant", "0"), "f32[3] 1", "",
      "cannot be padded" },
    { "nn.pad", PAD("0", "0", "mirror", "0"), "f32[3] 1", "",
      "mode is \"mirror\", expected one of" },
    { "nn.pad", PAD("0,0", "0", "edge", "0"), "f32[3] 1", "", "pad_before has 2 entries" },
    { "nn.pad", PAD("0", "", "edge", "0"), "f32[3] 1", "", "pad_after has 0 entries" },
    { "nn.pad", PAD("1", "1", "constant", "2"), "f8e4m3[3] 1", "", "input 0 of nn.pad is f8e4m3" },
};

static const struct op_case rearrangements[] = {
    { "nn.depth_to_space", "{block_size=[2,2], mode=\"DCR\"}", "f32[1,8,1,1] 0 1 2 3 4 5 6 7",
      "f32[1,2,2,2] 0 2 4 6 1 3 5 7", NULL },
    { "nn.depth_to_space", "{block_size=[2,2], mode=\"CRD\"}", "f32[1,8,1,1] 0 1 2 3 4 5 6 7",
      "f32[1,2,2,2] 0 1 2 3 4 5 6 7", NULL },
    { "nn.depth_to_space", "{block_size=[2,2], mode=\"\"}", "i8[1,4,1,2] 0 1 2 3 4 5 6 7",
      "i8[1,1,2,4] 0 2 1 3 4 6 5 7", NULL },
    { "nn.space_to_depth", "{block_size=[2,2], mode=\"\"}", "f32[1,1,2,4] 0 1 2 3 4 5 6 7",
      "f32[1,4,1,2] 0 2 1 3 4 6 5 7", NULL },
    { "nn.space_to_depth", "{block_size=[2,2], mode=\"\"}", "f32[1,2,2,2] 0 1 2 3 4 5 6 7",
      "f32[1,8,1,1] 0 4 1 5 2 6 3 7", NULL },
    { "nn.space_to_depth", "{block_size=[3,3], mode=\"\"}", "f32[2,0,3,3]", "f32[2,0,1,1]", NULL },
    { "nn.depth_to_space", "{block_size=[2,2], mode=\"\"}", "f32[1,6,1,1] 0", "",
      "does not divide into" },
    { "nn.space_to_depth", "{block_size=[2,2], mode=\"\"}", "f32[1,1,2,3] 0", "", "blocks of 2x2" },
    { "nn.space_to_depth", "{block_size=[2,2], mode=\"CRD\"}", "f32[1,1,2,2] 0", "",
      "mode is \"CRD\"" },
    { "nn.depth_to_space", "{block_size=[0,0], mode=\"\"}", "f32[1,4,1,1] 0", "",
      "block_size has the entry 0" },
    { "nn.space_to_depth", "{block_size=[4294967296,4294967296], mode=\"\"}", "f32[1,1,0,0]", "",
      "block_size has the entry 42949" },
    { "nn.depth_to_space", "{block_size=[2,2], mode=\"\"}", "f32[4,1] 0", "", "expected rank 3" },
    { "nn.depth_to_space", "{block_size=[2,2], mode=\"\"}", "f32[4,4,1] 0", "",
      "block_size has 2 entries" },
    { "nn.depth_to_space", "{block_size=[3], mode=\"\"}", "i8[1,6,2] 0 1 2 3 4 5 6 7 8 9 10 11",
      "i8[1,2,6] 0 4 8 1 5 9 2 6 10 3 7 11", NULL },
    { "nn.depth_to_space", "{block_size=[3], mode=\"CRD\"}", "i8[1,6,2] 0 1 2 3 4 5 6 7 8 9 10 11",
      "i8[1,2,6] 0 2 4 1 3 5 6 8 10 7 9 11", NULL },
    { "nn.depth_to_space", "{block_size=[3], mode=\"\", layout=\"NWC\"}",
      "i8[1,2,6] 0 1 2 3 4 5 6 7 8 9 10 11", "i8[1,6,2] 0 1 2 3 4 5 6 7 8 9 10 11", NULL },
    { "nn.space_to_depth", "{block_size=[3], mode=\"\"}", "i8[1,1,6] 0 1 2 3 4 5",
      "i8[1,3,2] 0 3 1 4 2 5", NULL },
    { "nn.depth_to_space", "{block_size=[1,2], mode=\"\"}", "i8[1,2,2,2] 0 1 2 3 4 5 6 7",
      "i8[1,1,2,4] 0 4 1 5 2 6 3 7", NULL },
    { "nn.depth_to_space", "{block_size=[2,1], mode=\"\"}", "i8[1,2,2,2] 0 1 2 3 4 5 6 7",
      "i8[1,1,4,2] 0 1 4 5 2 3 6 7", NULL },
    { "nn.depth_to_space", "{block_size=[2,1,3], mode=\"\"}",
      "i8[1,6,1,2,1] 0 1 2 3 4 5 6 7 8 9 10 11", "i8[1,1,2,2,3] 0 2 4 1 3 5 6 8 10 7 9 11", NULL },
    { "nn.depth_to_space", "{block_size=[4096,4096,2], mode=\"\"}", "f32[1,0,1,1,1]", "",
      "blocks of 33554432" },
    { "custom", "{op=\"a::b\", header=\"h.h\", function=\"f\", results=\"i32[2]\", arguments=\"\"}",
      "f32[1] 3", "i32[2] 3 3", NULL },
    { "custom", "{op=\"\", header=\"h.h\", function=\"2f\", results=\"i32[2]\", arguments=\"\"}",
      "f32[1] 3", "", "'2f' is not a name of a C function" },
    { "custom", "{op=\"\", header=\"h.h>\", function=\"f\", results=\"i32[2]\", arguments=\"\"}",
      "f32[1] 3", "", "is not a header's name" },
    { "custom", "{op=\"\", header=\"h.h\", function=\"f\", results=\"i32[2\", arguments=\"\"}",
      "f32[1] 3", "", "is not a list of a type for each result" },
    { "custom",
      "{op=\"\", header=\"h.h\", function=\"f\", results=\"i32[2]\", "
      "arguments=\"i3;f0.5;I1,-2;I;F0.5;sa b;\"}",
      "f32[1] 3", "i32[2] 3 3", NULL },
    { "custom",
      "{op=\"\", header=\"h.h\", function=\"f\", results=\"i32[2]\", arguments=\"i3;s);x(\"}",
      "f32[1] 3", "", "is not a list of attributes" },
    { "custom",
      "{op=\"\", header=\"h.h\", function=\"f\", results=\"i32[2]\", arguments=\"I1,,2\"}",
      "f32[1] 3", "", "is not a list of attributes" },
    { "if", "", "bool[] 1; f32[2] 1 2; f32[2] 3 4", "f32[2] 1 2", NULL },
    { "if", "", "bool[1] 0; f32[2] nan 2; f32[2] 3 nan", "f32[2] 3 nan", NULL },
    { "if", "", "bool[] 1; i8[0]; i8[0]", "i8[0]", NULL },
    { "if", "", "bool[2] 1 1; f32[2] 1 2; f32[2] 3 4", "", "expected one truth value" },
    { "if", "", "bool[] 1; f32[2] 1 2; f32[3] 3 4 5", "", "expected one shape" },
    { "if", "", "bool[] 1; f32[2] 1 2; f64[2] 3 4", "", "" },
    { "trilu", "{upper=true, k=0}", "f32[2,3] 1 2 3 4 5 6", "f32[2,3] 1 2 3 0 5 6", NULL },
    { "trilu", "{upper=false, k=0}", "f32[2,3] 1 2 3 4 5 6", "f32[2,3] 1 0 0 4 5 0", NULL },
    { "trilu", "{upper=true, k=1}", "i64[2,2,2] 1 2 3 4 5 6 7 8", "i64[2,2,2] 0 2 0 0 0 6 0 0",
      NULL },
    { "trilu", "{upper=false, k=-1}", "i8[2,2] 1 2 3 4", "i8[2,2] 0 0 3 0", NULL },
    { "trilu", "{upper=true, k=-9}", "i8[2,2] 1 2 3 4", "i8[2,2] 1 2 3 4", NULL },
    { "trilu", "{upper=false, k=0}", "f32[2,0]", "f32[2,0]", NULL },
    { "trilu", "{upper=true, k=0}", "f32[2] 1", "", "expected rank 2 or more" },
    { "reverse_sequence", "{batch_axis=1, time_axis=0}", "f32[3,2] 1 2 3 4 5 6; i64[2] 3 2",
      "f32[3,2] 5 4 3 2 1 6", NULL },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}",
      "i8[2,3,2] 1 2 3 4 5 6 7 8 9 10 11 12; i64[2] 1 3", "i8[2,3,2] 1 2 3 4 5 6 11 12 9 10 7 8",
      NULL },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}", "f32[1,2] 1 2; i32[1] 0", "f32[1,2] 1 2",
      NULL },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}", "f32[1,2] 1 2; i64[1] 3", "",
      "sequence 0 has length 3, the time axis has extent 2" },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}", "f32[1,2] 1 2; i64[1] -1", "",
      "has length -1" },
    { "reverse_sequence", "{batch_axis=0, time_axis=0}", "f32[1,2] 1 2; i64[1] 1", "",
      "expected 0 and 1" },
    { "reverse_sequence", "{batch_axis=0, time_axis=2}", "f32[1,2,2] 1; i64[1] 1", "",
      "time axis 2" },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}", "f32[2,2] 1; i64[3] 1", "",
      "3 sequence lengths" },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}", "f32[2,2] 1; f32[2] 1", "",
      "expected i32 or i64" },
    { "reverse_sequence", "{batch_axis=0, time_axis=1}", "f32[2,2] 1; i64[1,2] 1", "",
      "has shape 1x2" },
};

START_TEST(views_keep_elements_in_order)
{
    op_case_check(&views[_i]);
}
END_TEST

START_TEST(moves_copy_every_element_to_its_place)
{
    op_case_check(&moves[_i]);
}
END_TEST

START_TEST(slices_take_any_stride_and_stay_in_range)
{
    op_case_check(&slices[_i]);
}
END_TEST

START_TEST(padding_crops_first_and_then_fills)
{
    op_case_check(&pads[_i]);
}
END_TEST

START_TEST(blocks_triangles_and_sequences_are_rearranged)
{
    op_case_check(&rearrangements[_i]);
}
END_TEST

/* 0, 1, 2 ... in a shape with a different extent for each axis. */
static struct tensor counting(struct bulk *bulk)
{
    struct tensor x = tensor_from_text(bulk, "i32[2,3,4,5] 0");

    for (int64_t i = 0; i < type_elements(&x.type); i++)
        dtype_store_int(DTYPE_I32, x.data, i, i);
    return x;
}

/* Applied one after the other, these give back what they began with. */
static const struct {
    const char *op, *attrs, *back, *back_attrs;
} inverses[] = {
    { "transpose", "{axes=[2,0,3,1]}", "transpose", "{axes=[1,3,0,2]}" },
    { "transpose", "{axes=[]}", "transpose", "{axes=[]}" },
    { "reshape", "{shape=[6,20]}", "reshape", "{shape=[2,3,4,5]}" },
    { "expand_dims", "{axes=[1,3]}", "squeeze", "{axes=[3,1]}" },
    { "nn.pad", PAD("1,2,0,3", "0,1,2,4", "constant", "7"), "nn.pad",
      PAD("-1,-2,0,-3", "0,-1,-2,-4", "constant", "0") },
    { "nn.pad", PAD("1,2,0,3", "0,1,2,4", "reflect", "0"), "strided_slice",
      "{begin=[1,2,0,3], strides=[1,1,1,1], size=[2,3,4,5]}" },
    { "strided_slice", "{begin=[1,2,3,4], strides=[-1,-1,-1,-1], size=[2,3,4,5]}", "strided_slice",
      "{begin=[1,2,3,4], strides=[-1,-1,-1,-1], size=[2,3,4,5]}" },
    { "tile", "{shape=[2,1,3,2]}", "strided_slice",
      "{begin=[2,0,4,5], strides=[1,1,1,1], size=[2,3,4,5]}" },
};

START_TEST(an_operator_and_its_inverse_cancel)
{
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { 0 };
    const struct tensor x = counting(&bulk);
    const struct tensor there = op_apply(ctx, &bulk, inverses[_i].op, inverses[_i].attrs, 1, &x);
    const struct tensor back =
        op_apply(ctx, &bulk, inverses[_i].back, inverses[_i].back_attrs, 1, &there);

    ck_assert(type_elements(&back.type) >= type_elements(&x.type));
    ck_assert(memcmp(back.data, x.data, type_bytes(&x.type)) == 0);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

START_TEST(slices_of_a_concatenation_are_its_parts)
{
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { 0 };
    const struct tensor x = counting(&bulk), both[2] = { x, x };
    const char *concat = arena_printf(&ctx->perm, "{axis=%d}", _i);
    const struct tensor joined = op_apply(ctx, &bulk, "concatenate", concat, 2, both);

    for (int part = 0; part < 2; part++) {
        int64_t begin[4] = { 0 };
        struct tensor slice;

        begin[_i] = part * x.type.dim[_i];
        slice = op_apply(ctx, &bulk, "strided_slice",
                         arena_printf(&ctx->perm,
                                      "{begin=[%d,%d,%d,%d], strides=[1,1,1,1], "
                                      "size=[2,3,4,5]}",
                                      (int)begin[0], (int)begin[1], (int)begin[2], (int)begin[3]),
                         1, &joined);
        ck_assert(tensor_equal(&slice, &x));
    }
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_shape");
    TCase *tcase = tcase_create("ops_shape");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, views_keep_elements_in_order, 0, N_ROWS(views));
    tcase_add_loop_test(tcase, moves_copy_every_element_to_its_place, 0, N_ROWS(moves));
    tcase_add_loop_test(tcase, slices_take_any_stride_and_stay_in_range, 0, N_ROWS(slices));
    tcase_add_loop_test(tcase, padding_crops_first_and_then_fills, 0, N_ROWS(pads));
    tcase_add_loop_test(tcase, blocks_triangles_and_sequences_are_rearranged, 0,
                        N_ROWS(rearrangements));
    tcase_add_loop_test(tcase, an_operator_and_its_inverse_cancel, 0, N_ROWS(inverses));
    tcase_add_loop_test(tcase, slices_of_a_concatenation_are_its_parts, 0, 4);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
