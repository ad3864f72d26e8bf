import { describe, expect, test } from 'bun:test'
import { createProjections } from '../../projections/projections.ts'
import type { Projections } from '../../projections/queries.ts'
import {
  kegsFoundRememberedMax,
  kegsOrderedPerPiece,
  kegsPerCellarMax,
  kegsSearchedPerPiece,
} from '../../src/limits.ts'
import { kegNamesOf } from '../support/kegs-of.ts'
import { Recorder } from '../support/recorder.ts'

const noon = Date.UTC(2026, 2, 1, 12)

const scene = () => {
  const recorder = new Recorder(noon)
  const projections = createProjections()
  const post = (rack: string, keg: string): void => {
    const data = { cellar: 'c', rack, keg, value: 1, timestamp: '2026-03-01T12:00:00Z' }
    projections.fold([recorder.record('readings-k1', { type: 'ReadingAccepted', data }, { at: noon })])
  }
  return { projections, post }
}

const fullScene = () => {
  const { projections, post } = scene()
  for (let keg = 0; keg < kegsPerCellarMax; keg += 1) post(`rack ${keg % 100}`, `keg ${keg}`)
  return { projections, post }
}

const found = (projections: Projections, ...words: readonly string[]) =>
  kegNamesOf(projections, 'c', words).map(({ rack, keg }) => `${rack}/${keg}`)

const pausesOf = ({ readings }: Projections, ...words: readonly string[]): number => {
  const search = readings.findKegs('c', words)
  for (let pauses = 0; ; pauses += 1) if (search.next().done === true) return pauses
}

const wholeSearch = kegsPerCellarMax / kegsSearchedPerPiece - 1

describe('a search for kegs', () => {
  test('finds every word in the names of rack and keg, in any case', () => {
    const { projections, post } = scene()
    post('Nord', 'TEMPERATUR Ü')
    post('Süd', 'Temperatur')
    post('Nord', 'Druck')
    expect(found(projections, 'temp')).toEqual(['Nord/TEMPERATUR Ü', 'Süd/Temperatur'])
    expect(found(projections, 'ü')).toEqual(['Nord/TEMPERATUR Ü', 'Süd/Temperatur'])
    expect(found(projections, 'nord', 'temp')).toEqual(['Nord/TEMPERATUR Ü'])
    expect(found(projections, 'nord', 'süd')).toEqual([])
    // A word must not match the end of the rack's name together with the start of the keg's name.
    expect(found(projections, 'norddruck')).toEqual([])
  })

  test('works in steps, and only once for the same words', () => {
    const { projections } = fullScene()
    expect(pausesOf(projections)).toBe(kegsPerCellarMax / kegsOrderedPerPiece - 1)
    expect(pausesOf(projections)).toBe(0)
    expect(pausesOf(projections, 'keg', '99')).toBe(wholeSearch)
    expect(pausesOf(projections, 'keg', '99')).toBe(0)
    expect(pausesOf(projections, '99', 'keg')).toBe(0)
    expect(found(projections, '99', 'keg')).toEqual(found(projections, 'keg', '99'))
  })

  test('finds new kegs, and no forgotten ones', () => {
    const { projections, post } = fullScene()
    expect(found(projections, 'new')).toEqual([])
    expect(found(projections, 'keg', '0', 'rack')).toContain('rack 0/keg 0')
    post('rack 0', 'new')
    expect(found(projections, 'new')).toEqual(['rack 0/new'])
    expect(found(projections, 'keg', '0', 'rack')).not.toContain('rack 0/keg 0')
    expect(pausesOf(projections, 'new')).toBe(0)
  })

  test('is complete while another search sorts the same kegs', () => {
    const { projections } = fullScene()
    const searches = [projections.readings.findKegs('c', []), projections.readings.findKegs('c', ['keg'])]
    const sizes: number[] = []
    while (sizes.length < searches.length) {
      for (const search of searches) {
        const piece = search.next()
        if (piece.done === true && piece.value !== undefined) sizes.push(piece.value.found.length)
      }
    }
    expect(sizes).toEqual([kegsPerCellarMax, kegsPerCellarMax])
    expect(new Set(found(projections)).size).toBe(kegsPerCellarMax)
  })

  test('is forgotten when later results need its memory', () => {
    const { projections } = fullScene()
    pausesOf(projections)
    const words = ['k', 'e', 'g', 'r', 'a', 'c', 'ke']
    expect(words.length - 1).toBe(Math.floor(kegsFoundRememberedMax / kegsPerCellarMax))
    for (const word of words.slice(0, -1)) expect(pausesOf(projections, word)).toBe(wholeSearch)
    expect(pausesOf(projections, 'k')).toBe(0)
    expect(pausesOf(projections, 'ke')).toBe(wholeSearch)
    expect(pausesOf(projections, 'k')).toBe(0)
    expect(pausesOf(projections, 'e')).toBe(wholeSearch)
  })
})
