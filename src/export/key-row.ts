import type { Core } from '../actors/core-interface.ts'
import type { ExportFormat } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import { visibleJson } from '../hidden-characters.ts'
import { csvRow } from './csv-escaping.ts'
import { keyView } from './key-view.ts'

export const keyRow = (core: Pick<Core, 'clock' | 'projections'>, format: ExportFormat) => {
  return (state: KeyState): string => {
    const view = keyView(core, state)
    if (format === 'ndjson') return `${visibleJson(view)}\n`
    return csvRow([
      view.id,
      view.cellar,
      view.label,
      view.note,
      view.status,
      view.limit.readings,
      view.limit.windowMs / 1_000,
      view.expiresAt,
      view.createdAt,
      view.lastUsedAt,
      view.predecessor ?? null,
      view.successor ?? null,
    ])
  }
}
