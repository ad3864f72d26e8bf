import { sessionIdleMsDefault } from '../limits.ts'
import { knownBeyondLog } from './ask/known-beyond-log.ts'
import { createAttention } from './attention/attention-requests.ts'
import { createCellars } from './cellar/cellar-requests.ts'
import type { Core } from './core-interface.ts'
import { createKeys } from './key/key-requests.ts'
import { type CoreParts, Node } from './node.ts'
import { createOperators } from './operator/operator-requests.ts'
import { createSignIns } from './operator/sign-in-requests.ts'
import type { IndexTrouble } from './repeats/repeat-memory.ts'
import { beginFromLog } from './start/begin-from-log.ts'
import { suspendLostKeys } from './start/lost-changes.ts'
import { createWebhooks } from './webhooks/webhook-requests.ts'

export type OpenCore = Core & {
  /** Does the periodic work now: finishes revocations and rotations, records expiries, purges, and looks for what needs attention. */
  sweep(): Promise<void>
  indexTrouble(): IndexTrouble | null
}

/** Folds the log, and finishes work that any node left half done. @throws the error of the log if it cannot be read. */
export const openCore = async (parts: CoreParts): Promise<OpenCore> => {
  const { log, readBeginning = log.readBeginning?.bind(log) ?? null, onWholeRead = () => {} } = parts
  const node = new Node(parts, await beginFromLog(readBeginning, onWholeRead))
  try {
    await begin(node, parts)
  } catch (cause) {
    await node.abandonStart()
    throw cause
  }
  const { context } = node
  const { derived } = parts
  return {
    log: context.log,
    clock: context.clock,
    entropy: context.entropy,
    projections: context.projections,
    cellars: createCellars(node.cellars),
    keys: createKeys(context, node),
    operators: {
      ...createOperators(context, node),
      ...createSignIns(context, node, parts.sessionIdleMs ?? sessionIdleMsDefault),
    },
    refusals: node.refusalRecords,
    attention: createAttention(context, node),
    webhooks: createWebhooks(context, node.webhooks),
    recordExport: (data, asker) => node.exportRecords.append({ type: 'LogExported', data }, asker),
    figures: () => node.figures(),
    indexProgress: () => derived?.store.progress('ask') ?? null,
    questions: parts.questions ?? derived?.questions ?? noQuestions,
    onFolded: (listener) => node.onFolded(listener),
    indexTrouble: () => context.repeats.trouble,
    sweep: () => node.sweep(),
    drain: () => node.drain(),
  }
}

const noQuestions: OpenCore['questions'] = { ask: async () => ({ kind: 'not_now' }), close: async () => {} }

const begin = async (node: Node, { derived, onLostChanges }: CoreParts): Promise<void> => {
  const { log, projections } = node.context
  log.checkEnds?.((stream) => projections.lastRevision(stream))
  await node.follow()
  // Without a heartbeat no request times out. `finishBegunWork` could then wait an hour for a store that never answers.
  node.startHeartbeat()
  const inFile = derived?.known() ?? null
  const known = inFile === null ? null : await knownBeyondLog(log, inFile)
  const found = known === null ? null : await suspendLostKeys(node.context, node.keys, known)
  inFile?.close()
  if (found !== null) onLostChanges?.(found)
  derived?.store.start()
  const begun = node.beginRepeats()
  await node.finishBegunWork()
  await begun
  await node.watchAttention()
}
