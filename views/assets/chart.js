/**
 * Draws the charts of a page with uPlot, from the data of the server's picture, and replaces the picture. A zoom opens the
 * address of the new range, so the server answers with finer steps.
 */
;(() => {
  const seriesPerKeg = 3
  /** In px. Then only every third time has a text, as in the picture. */
  const narrow = 560
  /** In px, for half a text. In `app.css`, the chart is wider by the same. */
  const edge = 12

  const style = (element, name) => getComputedStyle(element)[name]
  const iso = (at) => new Date(at).toISOString()
  const textOf = (at) => iso(at).slice(0, 19).replace('T', ' ')
  /** A single reading comes as its time, its value, the number of its stream, and its revision. */
  const parsed = (text) => {
    const data = JSON.parse(text)
    for (const series of data.series)
      if (series.single)
        series.points = series.points.map(([at, value, stream, revision]) => {
          const path = series.streams[stream] + revision
          return [at, value, value, value, 1, path]
        })
    return data
  }
  const isEmpty = ({ series }) => series.every(({ points, before }) => points.length + before === 0)
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
    if (at === undefined) return 'No reading has a time in this range.'
    const texts = series.flatMap(({ name, unit, single, points }) => {
      const [, mean, low, high, count] = points.find(([time]) => time === at) ?? []
      if (mean === undefined) return []
      const rounded = single ? mean : decimals > 6 ? Number(mean.toPrecision(7)) : mean.toFixed(decimals)
      const value = `${rounded}${unit && ` ${unit}`}`
      if (series.length > 1) return [`${name}: ${value}`]
      return [single ? value : `${value}, ${low} to ${high}, ${count} reading${count === 1 ? '' : 's'}`]
    })
    const [from, to] = [at - step / 2, at + step / 2].map(textOf)
    const isSingle = series.every(({ single }) => single)
    const stretch = step < 86_400_000 ? `${from.slice(0, 16)} to ${to.slice(11, 16)}` : from.slice(0, 10)
    return `${isSingle ? textOf(at) : stretch} UTC: ${texts.join(' · ')}`
  }

  const draw = (figure) => {
    let data = parsed(figure.dataset.chart)
    // uPlot cannot draw an infinite scale, so the picture of the server stays.
    if (isEmpty(data) || data.high - data.low === Infinity) return isEmpty
    const find = (selector) => figure.querySelector(selector)
    const axisText = find('.chart-values text')
    const ink = () => style(axisText, 'fill')
    const grid = () => style(find('.chart-grid'), 'stroke')
    const font = `${style(axisText, 'fontSize')} ${style(axisText, 'fontFamily')}`
    const height = Number(find('.chart-plot').getAttribute('height'))
    /** As in the picture. */
    const valuesWidth = () => 8 + 7 * Math.max(...data.values.map(([, text]) => text.length))
    const words = document.createElement('p')
    words.className = 'chart-readout'
    const place = document.createElement('div')
    place.className = 'chart-drawing'
    place.tabIndex = 0
    place.role = 'application'
    place.ariaLabel = `Chart: ${find('title').textContent}. Keys: arrows, Enter, plus, minus, Escape.`
    place.setAttribute('aria-describedby', `${figure.id}-words`)
    find('.chart-picture').after(place, words)

    const useFont = (ctx) => {
      ctx.font = font.replace(/[\d.]+/, (size) => size * devicePixelRatio)
    }
    const shadeGaps = (chart) => {
      const { ctx, bbox } = chart
      const ratio = devicePixelRatio
      const shade = find('.chart-shade')
      ctx.save()
      useFont(ctx)
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
      const { ctx } = chart
      const width = chart.width - valuesWidth() - edge
      useFont(ctx)
      const every = chart.width < narrow ? 3 : 1
      return data.times.map(([at, text], number) => {
        const room = ((data.to - at) / (data.to - data.from)) * width + edge
        return number % every > 0 || ctx.measureText(text).width / devicePixelRatio > 2 * room ? '' : text
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

    const times = () => data.series.flatMap(({ points }) => points.map(([at]) => at)).sort((a, b) => a - b)
    /** To a screen reader only while the chart has the focus, because each live update says the last point. */
    const say = (at = times().at(-1)) => {
      words.ariaLive = place.matches(':focus') ? 'polite' : 'off'
      words.textContent = readout(data, at)
    }

    const chart = new uPlot(
      {
        width: place.clientWidth,
        height,
        padding: [12, edge, 0, 0],
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
          setCursor: [({ data: [times], cursor: { left, idx } }) => say(left < 0 ? undefined : times[idx])],
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
    say()

    /** A time. */
    let chosen
    const choose = (index) => {
      const all = [...new Set(times())]
      chosen = all[Math.max(0, Math.min(all.length - 1, index(all)))]
      if (chosen !== undefined) chart.setCursor({ left: chart.valToPos(chosen, 'x'), top: 10 })
    }
    /** Of a step, the Log with its readings. */
    const open = (at) => {
      const place = data.series.flatMap(({ points }) => points).find(([time]) => time === at)?.[5]
      const [from, to] = [at - data.step / 2, at + data.step / 2].map((time) => encodeURIComponent(iso(time)))
      location.assign(place ?? `${figure.dataset.log}&from=${from}&to=${to}`)
    }
    const quarter = () => (data.to - data.from) / 4
    const toLast = () => choose((all) => all.length)
    const keys = {
      ArrowLeft: () => choose((all) => all.indexOf(chosen) - 1),
      ArrowRight: () => choose((all) => all.indexOf(chosen) + 1),
      Home: () => choose(() => 0),
      End: toLast,
      Enter: () => chosen && open(chosen),
      '+': () => chosen && zoom(chosen - quarter(), chosen + quarter()),
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
      if (chosen === undefined && place.matches(':focus-visible')) toLast()
    })
    chart.over.addEventListener('click', () => {
      const at = times().find((at) => at === chart.data[0][chart.cursor.idx])
      if (chart.select.width <= 4 && at) open(at)
    })
    new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height })).observe(place)
    for (const look of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
      matchMedia(look).addEventListener('change', () => chart.redraw())
    if (location.hash === `#${figure.id}`) {
      // The zoom of the keyboard keeps its point in the middle.
      choose((all) => all.findIndex((at) => at >= (data.from + data.to) / 2))
      place.focus({ preventScroll: true })
    }

    /** False if the update does not follow on what is drawn, or if readings came late. */
    return (newer) => {
      if (newer.step !== data.step || newer.since > data.to || newer.high - newer.low === Infinity) return false
      for (const [at, { single, points, before }] of newer.series.entries()) {
        const old = data.series[at]
        const kept = old?.points.filter(([time]) => time >= newer.from && time < newer.since)
        if (single !== old?.single || kept.reduce((sum, point) => sum + point[4], 0) < before) return false
        points.unshift(...kept)
      }
      data = newer
      chart.setData(columnsOf(data))
      if (chart.cursor.left < 0) say()
      return true
    }
  }

  const updates = [...document.querySelectorAll('figure[data-chart]')].map(draw)
  /** Loading the page again would lose what is typed. */
  const isTyped = () =>
    [...document.querySelectorAll('input')].some(
      (field) => field.matches(':focus') || field.value !== field.defaultValue,
    )

  document.addEventListener('htmx:after:swap', () => {
    const newest = [...document.querySelectorAll('[data-newest]')].map(({ dataset }) => parsed(dataset.newest))
    // The next update tries again. Not often, because readings can come late all the time.
    if (newest.every((data, at) => updates[at]?.(data)) || isTyped() || performance.now() < 30_000) return
    location.reload()
  })
})()
