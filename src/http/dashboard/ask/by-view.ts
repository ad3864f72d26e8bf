import type { ByView } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import { actorText } from '../../../domain/search/event-filter.ts'

export const byView = ({ projections }: Core, { position, metadata: { by } }: RecordedEvent): ByView => {
  switch (by.kind) {
    case 'operator':
      return { kind: 'person', by, href: paths.log({ actor: by.email }) }
    case 'key': {
      const label = projections.keys.labelAt(by.keyId, position) ?? `clr_${by.keyId}_…`
      return { kind: 'key', keyId: by.keyId, label, href: paths.key(by.keyId) }
    }
    default:
      return { kind: 'other', by, href: paths.log({ actor: actorText(by) }) }
  }
}
