// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { short } from './format'
import { language } from './i18n'

export interface Line {
  label: string
  values: (number | null)[]
}

const HEIGHT = 180
const colors = () => {
  const style = getComputedStyle(document.documentElement)
  return (name: string) => style.getPropertyValue(name).trim()
}

/** Lines over time, in seconds. The label says to those who do not see it what is shown, with the last values. */
export function Chart(props: { label: string; times: number[]; lines: Line[]; format?: (value: number) => string; theme: string }) {
  const { times, lines, format = short } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const data = [times, ...lines.map(line => line.values)] as uPlot.AlignedData
  const names = lines.map(line => line.label).join('\n')

  useEffect(() => {
    const color = colors()
    const text = color('--text-dim')
    const grid = { stroke: color('--line'), width: 1 }
    const axis = { stroke: text, grid, ticks: grid, font: '12px system-ui' }
    const stamp = (seconds: number, second?: '2-digit') =>
      new Date(seconds * 1000).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit', second, hourCycle: 'h23' })
    const day = (seconds: number) => new Date(seconds * 1000).toLocaleDateString(language, { day: 'numeric', month: 'short' })
    const label = (at: number, range: number) => (range > 172_800 ? day(at) : stamp(at, range < 900 ? '2-digit' : undefined))
    plot.current = new uPlot(
      {
        width: box.current!.clientWidth || 300,
        height: HEIGHT,
        cursor: { drag: { x: true, y: false } },
        scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high * 1.1 : 1] } },
        axes: [
          { ...axis, space: 70, values: (u, ticks) => ticks.map(at => label(at, (u.scales.x!.max ?? 0) - (u.scales.x!.min ?? 0))) },
          { ...axis, size: 72, values: (_, ticks) => ticks.map(format) },
        ],
        legend: { markers: { width: 3 } },
        series: [
          { value: (_, at) => (at ? new Date(at * 1000).toLocaleString(language) : '–') },
          ...lines.map((line, i) => ({
            label: line.label,
            stroke: color(`--series-${i + 1}`),
            width: 1.5,
            points: { show: false },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
      },
      data,
      box.current!,
    )
    const sizes = new ResizeObserver(([entry]) => plot.current?.setSize({ width: entry!.contentRect.width, height: HEIGHT }))
    sizes.observe(box.current!)
    return () => {
      sizes.disconnect()
      plot.current?.destroy()
    }
  }, [names, props.theme])

  useEffect(() => plot.current?.setData(data), [times, lines])

  const last = lines.map(line => `${line.label} ${format(line.values[line.values.length - 1] ?? 0)}`).join(', ')
  return <div class="chart" ref={box} role="img" aria-label={`${props.label}: ${last}`} />
}
