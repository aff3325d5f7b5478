// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.PrintStream;
import java.util.Locale;

/** Shows the progress of a run: one line that is overwritten on a terminal, one line per second elsewhere. */
final class ProgressLine implements Progress {

    private final PrintStream out;
    private final boolean terminal;
    private int shown;

    ProgressLine(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    @Override
    public void connecting(int ready, int all) {
        show("connected " + ready + " of " + all);
    }

    @Override
    public void sample(Sample sample) {
        show(String.format(
                Locale.ROOT,
                "%5.1f s  %d connected  %.0f/s published  %.0f/s delivered  p50 %.3f ms  p99 %.3f ms",
                sample.seconds(),
                sample.connected(),
                sample.publishedPerSecond(),
                sample.deliveredPerSecond(),
                sample.p50Micros() / 1e3,
                sample.p99Micros() / 1e3));
    }

    private void show(String line) {
        if (terminal) {
            out.print("\r" + line + " ".repeat(Math.max(0, shown - line.length())));
            out.flush();
            shown = line.length();
        } else {
            out.println(line);
        }
    }

    @Override
    public void end() {
        if (terminal && shown > 0) {
            out.print("\r" + " ".repeat(shown) + "\r");
            out.flush();
            shown = 0;
        }
    }
}
