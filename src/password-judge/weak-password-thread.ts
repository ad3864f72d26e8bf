/**
 * The dictionary takes too much memory to keep, so the thread judges one password and ends. Only a thread may import this
 * file, because the code below runs at import.
 */
import { ZxcvbnFactory, type ZxcvbnResult } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import { guessedWords, type Weakness } from '../domain/names-in-passwords.ts'
import type { Judged, ToJudge } from './judge-on-thread.ts'

/** Only this number of characters at the start of a password is compared with the dictionary. More would take too long. */
export const passwordJudgedCharsMax = 64
/** A new password is refused if an attacker would need fewer guesses than this to find it. */
const passwordGuessesMin = 10_000_000_000

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<ToJudge>): void => {
  self.postMessage(judged(data))
}

/** The error's message could contain the password. */
const judged = ({ password, context }: ToJudge): Judged => {
  try {
    const judge = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
    const beginning = password.slice(0, passwordJudgedCharsMax)
    const words = [...guessedWords(context)]
    // The dictionary takes a space between two common words for chance, but attackers try it first.
    const spellings = new Set([beginning, beginning.replaceAll(/[\s\-_.,;:|/\\]/g, '')])
    const weaknesses = [...spellings].map((spelling) => weaknessOf(judge.check(spelling, words)))
    return { weakness: weaknesses.find((weakness) => weakness !== null) ?? null }
  } catch {
    return 'failed'
  }
}

const weaknessOf = ({ guesses, sequence }: ZxcvbnResult): Weakness | null => {
  if (guesses >= passwordGuessesMin) return null
  return sequence.some((match) => 'dictionaryName' in match && match.dictionaryName === 'userInputs')
    ? 'names'
    : 'common'
}
