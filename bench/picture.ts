import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PeerFigure, PeerFigures } from './peers/peers.ts'

const docs = join(import.meta.dir, '../docs')

type Colours = {
  readonly ground: string
  readonly text: string
  readonly faint: string
  readonly ours: string
  readonly others: string
}

/**
 * The colours give text a contrast of 4.5:1 or more. Bars also differ in lightness, for people who do not see the hue.
 */
const schemes: ReadonlyMap<string, Colours> = new Map([
  ['light', { ground: '#ffffff', text: '#1f1a1c', faint: '#655c60', ours: '#8c1c3f', others: '#d3c8cc' }],
  ['dark', { ground: '#16121a', text: '#f2ecef', faint: '#a99fa5', ours: '#e5608a', others: '#5b5058' }],
])

const width = 860
const barLeft = 300
const barWidthMax = 420
const rowHeight = 34
const panelTop = 44
const panelGap = 30

/** Draws `docs/figures-*.svg` from the last figures of `bun run bench peers`. */
export const drawPicture = async (): Promise<void> => {
  const figures: PeerFigures = JSON.parse(readFileSync(join(docs, 'figures.json'), 'utf8'))
  for (const [scheme, colours] of schemes) writeFileSync(join(docs, `figures-${scheme}.svg`), picture(figures, colours))
}

const picture = ({ measuredAt, machine, single, batches }: PeerFigures, colours: Colours): string => {
  const first = panel('Readings answered per second, one in a request', single, { top: 0, colours })
  const secondTop = first.bottom + panelGap
  const second = panel('Readings answered per second, 1,000 in a request', batches, { top: secondTop, colours })
  const height = second.bottom + 44
  const caption = `${measuredAt.slice(0, 10)} · ${machine}, shared with the load generator · bun run bench peers`
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif">`,
    '<title>Readings answered per second: Cellarbook and what people would put in its place</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="${colours.ground}"/>`,
    ...first.lines,
    ...second.lines,
    text(caption, { x: 24, y: height - 18, size: 11, fill: colours.faint }),
    '</svg>',
  ].join('\n')}\n`
}

type Panel = { readonly lines: readonly string[]; readonly bottom: number }

const panel = (
  title: string,
  figures: readonly PeerFigure[],
  { top, colours }: { readonly top: number; readonly colours: Colours },
): Panel => {
  const most = Math.max(...figures.map((figure) => figure.readingsPerSecond))
  const sorted = figures.toSorted((a, b) => b.readingsPerSecond - a.readingsPerSecond)
  const rows = sorted.flatMap((figure, index) => {
    const y = top + panelTop + 16 + index * rowHeight
    const isOurs = figure.name === 'Cellarbook'
    const length = Math.max(2, (figure.readingsPerSecond / most) * barWidthMax)
    return [
      text(figure.name, { x: 24, y: y + 11, size: 14, fill: colours.text, weight: isOurs ? 700 : 400 }),
      text(figure.does, { x: 24, y: y + 24, size: 11, fill: colours.faint }),
      `<rect x="${barLeft}" y="${y}" width="${length.toFixed(1)}" height="20" rx="3" fill="${isOurs ? colours.ours : colours.others}"/>`,
      text(figure.readingsPerSecond.toLocaleString('en'), {
        x: barLeft + length + 8,
        y: y + 15,
        size: 13,
        fill: colours.text,
        weight: isOurs ? 700 : 400,
      }),
    ]
  })
  const heading = text(title, { x: 24, y: top + 36, size: 16, fill: colours.text, weight: 600 })
  return { lines: [heading, ...rows], bottom: top + panelTop + 16 + figures.length * rowHeight }
}

type TextStyle = {
  readonly x: number
  readonly y: number
  readonly size: number
  readonly fill: string
  readonly weight?: number
}

const text = (content: string, { x, y, size, fill, weight = 400 }: TextStyle): string =>
  `<text x="${x.toFixed(1)}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}">${Bun.escapeHTML(content)}</text>`
