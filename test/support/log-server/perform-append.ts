import type { LogNode } from './server-node.ts'
import type { Append, Judgement } from './state.ts'

/** The answer to an append. `null` means that the server never answers it. */
export type Verdict =
  | Judgement
  | { readonly outcome: 'not_ready' }
  | { readonly outcome: 'timeout' }
  | { readonly outcome: 'no_space' }
  | { readonly outcome: 'clean_end' }
  | null

export const performAppend = async (node: LogNode, append: Append): Promise<Verdict> => {
  const life = node.life()
  if (node.faults.beforeAppend !== null) await node.faults.beforeAppend()
  if (node.life() !== life) return null
  if (!node.faults.isReady() || node.role() === 'leaderless') return { outcome: 'not_ready' }

  const fault = node.faults.ofAppend(append)
  if (fault === null) return node.state.append(append)
  if (fault.isWritten) node.state.append(append)
  if (fault.ends === 'silence') return null
  if (fault.ends !== 'cut') return { outcome: fault.ends }
  node.cutConnections()
  return null
}
