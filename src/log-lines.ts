/**
 * What the service says to those who run it: one JSON object a line. No header, body, query, key or link is ever in one,
 * so that whoever may read the lines may do nothing with them.
 */
import type { Writable } from 'node:stream'
import pino from 'pino'
import type { LogLevel } from './config.ts'
import { escapeHidden } from './hidden-characters.ts'
import { logLinesBytesMax } from './limits.ts'

type Facts = { readonly [name: string]: string | number | boolean | null | Error | Counts }

type Counts = { readonly [name: string]: number } | readonly { readonly [name: string]: string | number }[]

export type LogLines = {
  debug(what: string, facts?: Facts): void
  info(what: string, facts?: Facts): void
  warn(what: string, facts?: Facts): void
  error(what: string, facts?: Facts): void
}

/** Lines on `stream`, from `level` upwards. */
export const createLogLines = (stream: Writable, level: LogLevel): LogLines => {
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    boundedLines(stream),
  )
  return {
    debug: (what, facts = {}) => logger.debug(facts, what),
    info: (what, facts = {}) => logger.info(facts, what),
    warn: (what, facts = {}) => logger.warn(facts, what),
    error: (what, facts = {}) => logger.error(facts, what),
  }
}

/**
 * Readings go before lines: while the reader of the lines stalls, so many wait and the rest are dropped; when it has gone
 * away, all are. pino's own destination holds a process that wants to end in an endless loop then.
 */
const boundedLines = (stream: Writable): pino.DestinationStream => {
  let isGone = false
  stream.on('error', () => {
    isGone = true
  })
  return {
    write: (line) => {
      if (isGone || stream.writableLength >= logLinesBytesMax) return
      // JSON leaves C1 and direction characters as they are, and a terminal obeys them.
      stream.write(`${escapeHidden(line.trimEnd())}\n`)
    },
  }
}
