import { describe, expect, test } from 'bun:test'
import { groupsUnderWayMax } from '../../../src/limits.ts'
import { CommitRegions, commitRegionBytes } from '../../../src/log/sqlite/commit-regions.ts'

describe('CommitRegions', () => {
  test('has one region for each group under way, and no more', () => {
    const regions = new CommitRegions()
    const taken = Array.from({ length: groupsUnderWayMax }, () => regions.take(1))
    expect(taken.sort()).toEqual(Array.from({ length: groupsUnderWayMax }, (_, index) => index * commitRegionBytes))
    expect(regions.memory.byteLength).toBe(groupsUnderWayMax * commitRegionBytes)
    expect(regions.take(1)).toBeNull()
  })

  test('gives a region again only when it was given back', () => {
    const regions = new CommitRegions()
    const [first, second] = [regions.take(1), regions.take(1)]
    expect(first).not.toBe(second)
    regions.giveBack(Number(first))
    expect(regions.take(1)).toBe(first)
    expect(regions.take(1)).toBeNull()
  })

  test('takes a group of the size of a region, and none of one byte more', () => {
    const regions = new CommitRegions()
    expect(regions.take(commitRegionBytes + 1)).toBeNull()
    for (let group = 0; group < groupsUnderWayMax; group += 1) expect(regions.take(commitRegionBytes)).not.toBeNull()
  })
})
