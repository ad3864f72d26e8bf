import type { SQLiteError } from 'bun:sqlite'

/** Says nothing against the file: the same may succeed once there is room, or another program has let go of it. */
export const isPassing = ({ code }: SQLiteError): boolean =>
  code === 'SQLITE_FULL' || code?.startsWith('SQLITE_BUSY') === true
