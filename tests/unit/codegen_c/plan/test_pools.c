/* Placement in several memories, of random blocks: a checker of its own looks at every byte of
 * every pool at every time. What is hottest lies in the fastest memory that could take it; a memory
 * that could hold all by itself is enough. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/plan.h"

enum { REGIONS = 40, MOST_BLOCKS = 60, MOST_CONSTANTS = 20, MOST_POOLS = 4, UNITS = 4096 };

static struct ctx *ctx;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void begin(void)
{
    ctx = ctx_new(NULL);
}

static void end(void)
{
    ctx_free(ctx);
}

struct problem {
    struct plan plan;
    struct block blocks[MOST_BLOCKS];
    struct plan_constant constants[MOST_CONSTANTS];
    struct codegen_pool pools[MOST_POOLS];
    struct pool used[MOST_POOLS];
    struct region regions[REGIONS];
    struct node calls[REGIONS];
};

/* Blocks without values: scratch of several regions, as far as the planner knows. */
static void random_problem(struct problem *p, unsigned *seed)
{
    static const char *const names[] = { "a", "b", "c", "d" };

    memset(p, 0, sizeof *p);
    p->plan = (struct plan){ .n_regions = REGIONS, .blocks = p->blocks, .pools = p->used };
    p->plan.n_blocks = 1 + (int)(next_random(seed) % MOST_BLOCKS);
    p->plan.n_pools = 1 + (int)(next_random(seed) % MOST_POOLS);
    for (int r = 0; r < REGIONS; r++)
        p->regions[r].call = &p->calls[r];
    for (int i = 0; i < p->plan.n_blocks; i++) {
        const int first = (int)(next_random(seed) % REGIONS);
        const int last = first + (int)(next_random(seed) % 8);

        p->blocks[i] = (struct block){ .bytes = 1 + next_random(seed) % 3000,
                                       .first = first,
                                       .last = last < REGIONS ? last : REGIONS - 1 };
    }
    for (int i = 0; i < p->plan.n_pools; i++) {
        p->pools[i] = (struct codegen_pool){ .name = names[i],
                                             .bytes = 16 + next_random(seed) % 20000,
                                             .speed = (enum pool_speed)(next_random(seed) % 3) };
        p->used[i].of = &p->pools[i];
    }
}

/* Every 16 bytes of every pool, at every time, belong to one block at most. */
static void check_bytes(const struct problem *p)
{
    static int owner[MOST_POOLS][REGIONS][UNITS];

    memset(owner, 0, sizeof owner);
    for (int i = 0; i < p->plan.n_blocks; i++) {
        const struct block *block = &p->blocks[i];

        ck_assert_int_ge(block->pool, 0);
        ck_assert_int_lt(block->pool, p->plan.n_pools);
        ck_assert_uint_eq(block->offset % PLAN_ALIGN, 0);
        ck_assert_uint_le(block->offset + block->bytes, p->pools[block->pool].bytes);
        ck_assert_uint_le(block->offset + block->bytes, p->used[block->pool].bytes);
        for (int r = block->first; r <= block->last; r++)
            for (size_t u = block->offset / 16; u < (block->offset + block->bytes + 15) / 16; u++) {
                ck_assert_int_eq(owner[block->pool][r][u], 0);
                owner[block->pool][r][u] = i + 1;
            }
    }
}

START_TEST(no_byte_has_two_owners)
{
    static struct problem p, again;
    unsigned seed = 1;
    int n_placed = 0;

    for (int round = 0; round < 400; round++) {
        unsigned same = seed;
        struct diags saved = diag_save(ctx);
        bool placed;

        random_problem(&p, &seed);
        random_problem(&again, &same);
        placed = plan_pools(&p.plan, ctx, p.regions);
        ck_assert(placed == plan_pools(&again.plan, ctx, again.regions));
        if (placed) {
            check_bytes(&p);
            for (int i = 0; i < p.plan.n_blocks; i++) {
                ck_assert_uint_eq(p.blocks[i].offset, again.blocks[i].offset);
                ck_assert_int_eq(p.blocks[i].pool, again.blocks[i].pool);
            }
        } else {
            ck_assert_int_eq(ctx->diags.first->code, DIAG_RAM);
        }
        n_placed += placed;
        diag_restore(ctx, saved);
    }
    ck_assert_int_gt(n_placed, 100);
    ck_assert_int_lt(n_placed, 400);
}
END_TEST

/* Whatever else there is, a memory as large as all blocks together takes what the others do not. */
START_TEST(one_memory_that_is_large_enough_is_enough)
{
    static struct problem p;
    unsigned seed = 2;

    for (int round = 0; round < 200; round++) {
        random_problem(&p, &seed);
        p.pools[next_random(&seed) % (unsigned)p.plan.n_pools].bytes = 60000;
        for (int i = 0; i < p.plan.n_blocks; i++)
            if (p.blocks[i].bytes > 900)
                p.blocks[i].bytes = 900;
        ck_assert(plan_pools(&p.plan, ctx, p.regions));
        check_bytes(&p);
    }
}
END_TEST

START_TEST(a_single_memory_of_the_packed_size_is_enough)
{
    static struct problem p;
    unsigned seed = 3;

    for (int round = 0; round < 100; round++) {
        struct packing packing;

        random_problem(&p, &seed);
        p.plan.n_pools = 1;
        packing = pack_blocks(&ctx->scratch, p.blocks, p.plan.n_blocks, PACK_WORK);
        p.pools[0].bytes = packing.bytes;
        ck_assert(plan_pools(&p.plan, ctx, p.regions));
        ck_assert_uint_eq(p.plan.arena_bytes, packing.bytes);
    }
}
END_TEST

START_TEST(the_hottest_goes_to_the_fastest)
{
    static struct problem p;
    unsigned seed = 4;

    random_problem(&p, &seed);
    p.plan.n_pools = 3;
    p.plan.n_blocks = 2;
    p.blocks[0] = (struct block){ .bytes = 100, .first = 0, .last = 5 };
    p.blocks[1] =
        (struct block){ .bytes = 112, .first = 0, .last = 5 }; /* hotter: nothing is rounded */
    p.pools[0] = (struct codegen_pool){ "slow", 1000, POOL_SLOW, NULL, POOL_OF_ARENA };
    p.pools[1] = (struct codegen_pool){ "fast", 112, POOL_FAST, NULL, POOL_OF_ARENA };
    p.pools[2] = (struct codegen_pool){ "normal", 1000, POOL_NORMAL, NULL, POOL_OF_ARENA };
    for (int i = 0; i < 3; i++)
        p.used[i] = (struct pool){ .of = &p.pools[i] };
    ck_assert(plan_pools(&p.plan, ctx, p.regions));
    ck_assert_int_eq(p.blocks[1].pool, 1);
    ck_assert_int_eq(p.blocks[0].pool, 2);
    ck_assert_uint_eq(p.used[0].bytes, 0);
    ck_assert_uint_eq(p.used[1].traffic, 224);
}
END_TEST

/* Constants among the blocks: pools that take them hold no more than their bytes of both together,
 * and no pool holds what it does not take. */
START_TEST(constants_share_the_pools)
{
    static struct problem p, again;
    unsigned seed = 7;
    int n_placed = 0, n_taken = 0;

    for (int round = 0; round < 400; round++) {
        struct diags saved = diag_save(ctx);
        size_t bytes[MOST_POOLS] = { 0 };
        bool placed, is_limited = false;

        random_problem(&p, &seed);
        p.plan.constants = p.constants;
        p.plan.n_constants = (int)(next_random(&seed) % MOST_CONSTANTS);
        for (int i = 0; i < p.plan.n_constants; i++)
            p.constants[i] =
                (struct plan_constant){ next_random(&seed) % 4000, next_random(&seed) % 60000, 99 };
        for (int i = 0; i < p.plan.n_pools; i++) {
            p.pools[i].takes = next_random(&seed) % 3;
            p.pools[i].section =
                p.pools[i].takes == POOL_OF_BOTH || next_random(&seed) % 2 ? ".x" : NULL;
            is_limited =
                is_limited || (p.pools[i].takes == POOL_OF_CONSTANTS && !p.pools[i].section);
        }
        again = p;
        again.plan.blocks = again.blocks;
        again.plan.constants = again.constants;
        again.plan.pools = again.used;
        placed = plan_pools(&p.plan, ctx, p.regions);
        ck_assert(placed == plan_pools(&again.plan, ctx, again.regions));
        diag_restore(ctx, saved);
        if (!placed)
            continue;
        n_placed++;
        ck_assert_mem_eq(p.blocks, again.blocks, sizeof p.blocks);
        ck_assert_mem_eq(p.constants, again.constants, sizeof p.constants);
        check_bytes(&p);
        for (int i = 0; i < p.plan.n_blocks; i++)
            ck_assert_int_ne(p.pools[p.blocks[i].pool].takes, POOL_OF_CONSTANTS);
        for (int i = 0; i < p.plan.n_constants; i++) {
            const int pool = p.constants[i].pool;

            ck_assert(pool >= 0 || (pool == -1 && !is_limited));
            if (pool < 0)
                continue;
            ck_assert_int_ne(p.pools[pool].takes, POOL_OF_ARENA);
            bytes[pool] += plan_round(p.constants[i].bytes);
            n_taken++;
        }
        for (int i = 0; i < p.plan.n_pools; i++) {
            ck_assert_uint_eq(bytes[i], p.used[i].constant_bytes);
            ck_assert_uint_le(bytes[i] + p.used[i].bytes, p.pools[i].bytes);
        }
    }
    ck_assert_int_gt(n_placed, 100);
    ck_assert_int_gt(n_taken, 300);
}
END_TEST

/* What lives shortly makes room for others: two blocks one after the other, each less hot than the
 * constant, are hotter together. */
START_TEST(what_lives_shortly_goes_first)
{
    static struct problem p;
    unsigned seed = 3;

    random_problem(&p, &seed);
    p.plan.n_pools = 2;
    p.plan.n_blocks = 2;
    p.plan.n_constants = 1;
    p.plan.constants = p.constants;
    p.blocks[0] = (struct block){ .bytes = 160, .first = 0, .last = REGIONS / 2 - 1 };
    p.blocks[1] = (struct block){ .bytes = 160, .first = REGIONS / 2, .last = REGIONS - 1 };
    p.constants[0] = (struct plan_constant){ 160, 500, -1 }; /* scratch: 320 bytes each */
    p.pools[0] = (struct codegen_pool){ "fast", 160, POOL_FAST, ".x", POOL_OF_BOTH };
    p.pools[1] = (struct codegen_pool){ "normal", 160, POOL_NORMAL, NULL, POOL_OF_ARENA };
    for (int i = 0; i < 2; i++)
        p.used[i] = (struct pool){ .of = &p.pools[i] };
    ck_assert(plan_pools(&p.plan, ctx, p.regions));
    ck_assert_int_eq(p.blocks[0].pool, 0);
    ck_assert_int_eq(p.blocks[1].pool, 0);
    ck_assert_int_eq(p.constants[0].pool, -1);
    p.constants[0].traffic = 700; /* more than both */
    p.plan.arena_bytes = 0;
    ck_assert(plan_pools(&p.plan, ctx, p.regions));
    ck_assert_int_eq(p.constants[0].pool, 0);
    ck_assert_int_eq(p.blocks[0].pool, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pools");
    TCase *tcase = tcase_create("pools");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, no_byte_has_two_owners);
    tcase_add_test(tcase, one_memory_that_is_large_enough_is_enough);
    tcase_add_test(tcase, a_single_memory_of_the_packed_size_is_enough);
    tcase_add_test(tcase, the_hottest_goes_to_the_fastest);
    tcase_add_test(tcase, constants_share_the_pools);
    tcase_add_test(tcase, what_lives_shortly_goes_first);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
