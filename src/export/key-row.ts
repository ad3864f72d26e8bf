import type { Core } from '../actors/core-interface.ts'
import type { ExportFormat } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import { visibleJson } from '../hidden-characters.ts'
import { type Columns, rowOf } from './export-rows.ts'
import { keyView } from './key-view.ts'

export const keyColumns: Columns<ReturnType<typeof keyView>> = {
  id: ({ id }) => id,
  cellar: ({ cellar }) => cellar,
  label: ({ label }) => label,
  note: ({ note }) => note,
  status: ({ status }) => status,
  limitReadings: ({ limit }) => limit.readings,
  limitSeconds: ({ limit }) => limit.windowMs / 1_000,
  expiresAt: ({ expiresAt }) => expiresAt,
  createdAt: ({ createdAt }) => createdAt,
  lastUsedAt: ({ lastUsedAt }) => lastUsedAt,
  predecessor: ({ predecessor = null }) => predecessor,
  successor: ({ successor = null }) => successor,
}

export const keyRow = (core: Pick<Core, 'clock' | 'projections'>, format: ExportFormat) => {
  const ofKey = format === 'csv' ? rowOf(keyColumns) : (view: object): string => `${visibleJson(view)}\n`
  return (state: KeyState): string => ofKey(keyView(core, state))
}
