import { durationText } from './time-words.ts'

/** How long a rotated key has from then on: `ends with`, `lives on 24 h after` its successor's first use. */
export const livesOnText = (overlapMs: number): string =>
  overlapMs === 0 ? 'ends with its first use' : `lives on ${durationText(overlapMs)} after its first use`
