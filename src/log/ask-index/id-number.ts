import { isUuid } from '../../domain/uuid.ts'

/**
 * The first 48 bits of a UUID. Ids can share them: a UUIDv7 begins with its millisecond. So new ids are at the end of the
 * index, which keeps its pages full. @param id in lower case
 */
export const idNumber = (id: string): number =>
  isUuid(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : hashOf(id)

const hashOf = (id: string): number => Number(BigInt.asUintN(48, Bun.hash.xxHash64(id)))
