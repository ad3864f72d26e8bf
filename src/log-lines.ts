/** A log line never contains a header, body, query, API key or link: people who read the log could use a secret in it. */
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
 * Drops lines if their reader is slow or gone, so that waiting lines do not fill the memory. With pino's own destination, a
 * process would never end if the reader of its lines were gone.
 */
const boundedLines = (stream: Writable): pino.DestinationStream => {
  let isGone = false
  stream.on('error', () => {
    isGone = true
  })
  return {
    write: (line) => {
      if (isGone || stream.writableLength >= logLinesBytesMax) return
      // JSON leaves some control characters unescaped, and a terminal would obey them.
      stream.write(`${escapeHidden(line.trimEnd())}\n`)
    },
  }
}
