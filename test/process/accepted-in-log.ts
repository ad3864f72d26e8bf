import { cellarbook } from '../support/cellarbook.ts'

/** Returns the receipts of each stored value. A value with two receipts was stored twice. */
export const acceptedInLog = async (dataDir: string): Promise<ReadonlyMap<number, readonly string[]>> => {
  const { lines, stderr } = await cellarbook(['log', 'read', '--type', 'ReadingAccepted', '--json'], {
    DATA_DIR: dataDir,
  })
  if (stderr !== '') throw new Error(stderr)
  const accepted = new Map<number, string[]>()
  for (const line of lines) {
    const { data } = line
    if (typeof data !== 'object' || data === null || !('value' in data)) throw new Error('no reading')
    const value = Number(data.value)
    accepted.set(value, [...(accepted.get(value) ?? []), `${line['stream']}@${line['revision']}`])
  }
  return accepted
}
