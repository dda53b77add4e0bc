/* The corners y, x, y, x of a box that is x and y of its middle, width and height; one without either is empty. */
static void box_corners(const float box[4], float corners[4])
{
    const float half_width = box[2] > 0.0f ? box[2] / 2.0f : 0.0f;
    const float half_height = box[3] > 0.0f ? box[3] / 2.0f : 0.0f;

    corners[0] = box[1] - half_height;
    corners[1] = box[0] - half_width;
    corners[2] = box[1] + half_height;
    corners[3] = box[0] + half_width;
}
