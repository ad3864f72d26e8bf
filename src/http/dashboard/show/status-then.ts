import type { KeyAt } from '../../../../projections/audit-trail.ts'
import type { StatusThen } from '../../../../views/log/status-cause.ts'

/** The pages write instants and names in their own words, so they do not show `KeyAt.reason`. */
export const statusThen = ({ status, key, decidedBy }: KeyAt): StatusThen => ({
  status,
  expiresAt: key?.expiresAt ?? null,
  decidedBy:
    decidedBy === null
      ? null
      : {
          at: decidedBy.recordedAt,
          by: decidedBy.metadata.by,
          reason: 'reason' in decidedBy.data ? decidedBy.data.reason : '',
        },
})
