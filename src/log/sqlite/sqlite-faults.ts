import type { SQLiteError } from 'bun:sqlite'
import { DamagedLog, Outage } from '../event-log.ts'

/** `action` completes "Cannot ...", and names the file. */
export const faultOf = (action: string, cause: SQLiteError): Outage => {
  const what = `Cannot ${action}: ${cause.message}`
  if (isMalformed(cause)) return new DamagedLog({ stream: null, revision: null, position: null }, what, { cause })
  return new Outage(what, 'not_written', cause.code === 'SQLITE_FULL' ? 'full' : 'unavailable', { cause })
}

export const isMalformed = ({ code = '' }: SQLiteError): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code)

/** A later try can succeed, and the file can be whole. */
export const isPassing = ({ code = '' }: Pick<SQLiteError, 'code'>): boolean =>
  /^SQLITE_(FULL|BUSY|CANTOPEN|IOERR_(WRITE|FSYNC|TRUNCATE|SHM))/.test(code)
