/**
 * Draws the charts of a page with uPlot, from the data of the server's picture, and replaces the picture. A zoom opens the
 * address of the new range, so the server answers with finer steps.
 */
;(() => {
  const seriesPerKeg = 3
  /** In px. Then only every third time has a text, as in the picture. */
  const narrow = 560

  const style = (element, name) => getComputedStyle(element)[name]
  const iso = (at) => new Date(at).toISOString()
  const textOf = (at) => iso(at).slice(0, 19).replace('T', ' ')
  const isBroken = (gaps, from, to) => gaps.some(([begin, end]) => (begin + end) / 2 > from && (begin + end) / 2 < to)

  /** For uPlot: `undefined` is no point of this keg, and `null` breaks its line. */
  const columnsOf = ({ series }) => {
    const rows = new Map()
    const set = (number, at, values) => {
      if (!rows.has(at)) rows.set(at, [at])
      for (const [place, value] of values.entries()) rows.get(at)[1 + number * seriesPerKeg + place] = value
    }
    for (const [number, { points, gaps }] of series.entries())
      for (const [index, [at, mean, low, high]] of points.entries()) {
        const before = points[index - 1]?.[0]
        if (before !== undefined && isBroken(gaps, before, at)) set(number, (before + at) / 2, [null, null, null])
        set(number, at, [mean, low, high])
      }
    const sorted = [...rows.values()].sort(([a], [b]) => a - b)
    return Array.from({ length: 1 + series.length * seriesPerKeg }, (_, column) => sorted.map((row) => row[column]))
  }

  const readout = ({ series, step, decimals }, at) => {
    const texts = series.flatMap(({ name, unit, single, points }) => {
      const [, mean, low, high, count] = points.find(([time]) => time === at) ?? []
      if (mean === undefined) return []
      const value = `${single ? mean : mean.toFixed(Math.min(6, decimals))}${unit && ` ${unit}`}`
      if (series.length > 1) return [`${name}: ${value}`]
      return [single ? value : `${value}, ${low} to ${high}, ${count} reading${count === 1 ? '' : 's'}`]
    })
    const isSingle = series.every(({ single }) => single)
    const time = isSingle
      ? textOf(at)
      : `${textOf(at - step / 2).slice(0, 16)} to ${textOf(at + step / 2).slice(11, 16)}`
    return `${time} UTC: ${texts.join(' · ')}`
  }

  const draw = (figure) => {
    let data = JSON.parse(figure.dataset.chart)
    const find = (selector) => figure.querySelector(selector)
    const [plot, values, axisText] = ['.chart-plot', '.chart-values', '.chart-values text'].map(find)
    const ink = () => style(axisText, 'fill')
    const grid = () => style(find('.chart-grid'), 'stroke')
    const font = `${style(axisText, 'fontSize')} ${style(axisText, 'fontFamily')}`
    const [height, valuesWidth] = [plot.getAttribute('height'), values.getAttribute('width')].map(Number)
    const words = document.createElement('p')
    words.className = 'chart-readout'
    words.ariaLive = 'polite'
    const place = document.createElement('div')
    place.className = 'chart-drawing'
    place.tabIndex = 0
    place.role = 'application'
    place.ariaLabel = `Chart: ${find('title').textContent}. Keys: arrows, Enter, plus, minus, Escape.`
    place.setAttribute('aria-describedby', `${figure.id}-words`)
    find('.chart-picture').after(place, words)

    const shadeGaps = (chart) => {
      const { ctx, bbox } = chart
      const ratio = devicePixelRatio
      const shade = find('.chart-shade')
      ctx.save()
      ctx.font = font.replace(/[\d.]+/, (size) => size * ratio)
      ctx.textBaseline = 'top'
      ctx.textAlign = 'left'
      for (const [from, to, text] of data.series.length > 1 ? [] : data.series[0].gaps) {
        const [left, right] = [Math.max(from, data.from), Math.min(to, data.to)].map((at) =>
          chart.valToPos(at, 'x', true),
        )
        if (left >= right) continue
        ctx.globalAlpha = style(shade, 'fillOpacity')
        ctx.fillStyle = style(shade, 'fill')
        ctx.fillRect(left, bbox.top, right - left, bbox.height)
        ctx.globalAlpha = 1
        ctx.fillStyle = ink()
        if (ctx.measureText(text).width + 10 * ratio <= right - left)
          ctx.fillText(text, left + 5 * ratio, bbox.top + 5 * ratio)
      }
      ctx.restore()
    }

    const axis = (size, splits, texts, ticksSize) => ({
      stroke: ink,
      font,
      size,
      gap: 6,
      grid: { stroke: grid, width: 1, show: ticksSize === 0 },
      ticks: { stroke: grid, width: 1, size: ticksSize },
      splits,
      values: texts,
    })
    /** A text that has no room at the right edge is left out. */
    const timeTexts = (chart) => {
      const width = chart.width - valuesWidth
      const every = chart.width < narrow ? 3 : 1
      return data.times.map(([at, text], number) => {
        const end = ((at - data.from) / (data.to - data.from)) * width + text.length * 3.2
        return number % every > 0 || end > width + 12 ? '' : text
      })
    }

    /** With the colours and dashes of the picture, in each theme and with forced colours. */
    const curves = data.series.map((_, number) => {
      const [line, band] = ['line', 'band'].map((name) =>
        [...figure.querySelectorAll('.chart-series')][number].querySelector(`.chart-${name}`),
      )
      const stroke = () => style(line, 'stroke')
      const isAlone = (column, at) => {
        const isEnd = (rest) => (rest.find((value) => value !== undefined) ?? null) === null
        return column[at] != null && isEnd(column.slice(0, at).reverse()) && isEnd(column.slice(at + 1))
      }
      const points = {
        size: 5,
        fill: stroke,
        width: 0,
        show: (chart) => data.series[number].single && data.series[number].points.length < chart.width / 3,
        // A point between two gaps has no line.
        filter: (chart, index, isShown) =>
          isShown ? null : chart.data[index].flatMap((_, at) => (isAlone(chart.data[index], at) ? [at] : [])),
      }
      const dash = style(line, 'strokeDasharray')
        .match(/[\d.]+/g)
        ?.map(Number)
      const edge = { scale: 'y', stroke: 'transparent', points: { show: false } }
      const fill = () =>
        band &&
        `rgba(${style(band, 'fill')
          .match(/[\d.]+/g)
          .slice(0, 3)}, ${style(band, 'fillOpacity')})`
      const mean = { scale: 'y', stroke, width: Number.parseFloat(style(line, 'strokeWidth')), dash, points }
      return { series: [mean, edge, edge], band: { series: [3, 2].map((nth) => number * seriesPerKeg + nth), fill } }
    })

    const go = (href, changes = []) => {
      const address = new URL(href)
      for (const [name, value] of changes) address.searchParams.set(name, value)
      address.hash = figure.id
      location.assign(address)
    }
    const follow = (kind) => find(`[data-zoom="${kind}"]`) && go(find(`[data-zoom="${kind}"]`).href)
    const zoom = (from, to) =>
      go(find('[data-zoom="in"]').href, [
        ['from', textOf(Math.max(0, from))],
        ['to', textOf(Math.max(to, from + 1_000))],
      ])

    const chart = new uPlot(
      {
        width: place.clientWidth,
        height,
        padding: [12, 0, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { setScale: false }, points: { size: 8 } },
        scales: { x: { time: false, range: () => [data.from, data.to] }, y: { range: () => [data.low, data.high] } },
        axes: [
          axis(28, () => data.times.map(([at]) => at), timeTexts, 5),
          axis(
            valuesWidth,
            () => data.values.map(([at]) => at),
            () => data.values.map(([, text]) => text),
            0,
          ),
        ],
        series: [{}, ...curves.flatMap(({ series }) => series)],
        bands: curves.map(({ band }) => band),
        hooks: {
          drawClear: [shadeGaps],
          setCursor: [
            ({ data: [times], cursor: { left, idx } }) => {
              words.textContent = readout(data, left < 0 ? times.at(-1) : times[idx])
            },
          ],
          setSelect: [
            ({ select: { left, width }, posToVal }) =>
              width > 4 && zoom(posToVal(left, 'x'), posToVal(left + width, 'x')),
          ],
        },
      },
      columnsOf(data),
      place,
    )
    figure.classList.add('drawn')
    words.textContent = readout(data, chart.data[0].at(-1))

    let chosen = -1
    const times = () => chart.data[0]
    const choose = (index) => {
      chosen = Math.max(0, Math.min(times().length - 1, index))
      chart.setCursor({ left: chart.valToPos(times()[chosen], 'x'), top: 10 })
    }
    /** Of a step, the Log with its readings. */
    const open = (at) => {
      const place = data.series.flatMap(({ points }) => points).find(([time]) => time === at)?.[5]
      const [from, to] = [at - data.step / 2, at + data.step / 2].map((time) => encodeURIComponent(iso(time)))
      location.assign(place ?? `${figure.dataset.log}&from=${from}&to=${to}`)
    }
    const keys = {
      ArrowLeft: () => choose(chosen - 1),
      ArrowRight: () => choose(chosen + 1),
      Home: () => choose(0),
      End: () => choose(times().length),
      Enter: () => open(times()[chosen]),
      '+': () => zoom(times()[chosen] - (data.to - data.from) / 4, times()[chosen] + (data.to - data.from) / 4),
      '-': () => follow('out'),
      Escape: () => follow('reset'),
    }
    place.addEventListener('keydown', (event) => {
      const act = keys[event.key === '=' ? '+' : event.key]
      if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      act()
    })
    // Not by a click, which begins a stretch.
    place.addEventListener('focus', () => {
      if (chosen < 0 && place.matches(':focus-visible')) choose(times().length)
    })
    chart.over.addEventListener('click', () => {
      if (chart.select.width <= 4 && chart.cursor.idx != null) open(times()[chart.cursor.idx])
    })
    new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height })).observe(place)
    for (const look of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
      matchMedia(look).addEventListener('change', () => chart.redraw())
    if (location.hash === `#${figure.id}`) {
      // The zoom of the keyboard keeps its point in the middle.
      choose(times().findIndex((at) => at >= (data.from + data.to) / 2))
      place.focus({ preventScroll: true })
    }

    /** False if the update does not follow on what is drawn. */
    return (newer) => {
      const isNext = newer.step === data.step && newer.since <= data.to
      if (!isNext || newer.series.some(({ single }, at) => single !== data.series[at]?.single)) return false
      for (const [at, { points }] of newer.series.entries()) {
        const kept = data.series[at].points.filter(([time]) => time >= newer.from && time < newer.since)
        points.unshift(...kept)
      }
      data = newer
      chart.setData(columnsOf(data))
      if (chart.cursor.left < 0) words.textContent = readout(data, times().at(-1))
      return true
    }
  }

  const figures = [...document.querySelectorAll('figure[data-chart]')]
  const updates = figures.map((figure) => (figure.querySelector('.chart-line[d^="M"]') ? draw(figure) : () => false))

  document.addEventListener('htmx:after:swap', () => {
    const newest = [...document.querySelectorAll('[data-newest]')].map(({ dataset }) => JSON.parse(dataset.newest))
    const isDrawn = newest.every(
      (data, at) => updates[at]?.(data) || data.series.every(({ points }) => points.length === 0),
    )
    if (!isDrawn) location.reload()
  })
})()
