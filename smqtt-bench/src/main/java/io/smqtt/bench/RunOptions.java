// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Duration, limits and reports: the flags that all loads have in common. */
final class RunOptions {

    static final int MAX_CLIENTS = 10_000;

    @Option(names = "--duration", paramLabel = "TIME", description = "Duration of the measurement. Default: 60s.")
    Duration duration = Duration.ofSeconds(60);

    @Option(
            names = "--drain",
            paramLabel = "TIME",
            description = "Maximum time to wait for the last deliveries. Default: 10s.")
    Duration drain = Duration.ofSeconds(10);

    @Option(names = "--max-clients", description = "Maximum number of clients. Default: ${DEFAULT-VALUE}.")
    int maxClients = MAX_CLIENTS;

    @Option(names = "--threads", description = "Event loops of this tool. Default: half of the cores, 1 to 4.")
    int threads = Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors() / 2));

    @Option(names = "--pid", description = "A broker on this machine: reports its CPU and memory (Linux).")
    @Nullable
    Long pid;

    @Option(names = "--json", paramLabel = "FILE", description = "Writes the result as JSON.")
    @Nullable
    Path json;

    @Option(names = "--csv", paramLabel = "FILE", description = "Writes the run second by second as CSV.")
    @Nullable
    Path csv;

    @Option(names = "--html", paramLabel = "FILE", description = "Writes the result as a page with plots.")
    @Nullable
    Path html;

    @Option(names = "--quiet", description = "No progress.")
    boolean quiet;

    @Option(names = "--max-p99", paramLabel = "TIME", description = "Exit 1 if the 99th percentile of latency is more.")
    @Nullable
    Duration maxP99;

    @Option(names = "--max-p999", paramLabel = "TIME", description = "The same for the 99.9th percentile.")
    @Nullable
    Duration maxP999;

    @Option(names = "--max-loss", paramLabel = "COUNT", description = "Exit 1 if more messages are lost.")
    @Nullable
    Long maxLoss;

    @Option(names = "--max-duplicates", paramLabel = "COUNT", description = "Exit 1 if more messages are duplicated.")
    @Nullable
    Long maxDuplicates;

    @Option(names = "--min-rate", paramLabel = "RATE", description = "Exit 1 if fewer deliveries per second.")
    @Nullable
    Double minRate;

    /** @throws WrongUsage if the number of clients is not allowed, or a flag is invalid */
    void require(int clients) {
        check(clients > 0, "there must be at least one client");
        check(
                clients <= maxClients,
                clients + " clients are more than " + maxClients + ": allow them by --max-clients " + clients);
        check(threads > 0 && threads <= 64, "--threads " + threads + ": 1 to 64");
        check(!duration.isZero(), "--duration: must be longer than nothing");
        DescriptorLimit.require(clients);
        if (pid != null) {
            ProcessUse.of(pid);
            DescriptorLimit.requireOf(pid, clients);
        }
    }

    Progress progress(PrintStream err) {
        return new ProgressLine(quiet ? new PrintStream(PrintStream.nullOutputStream()) : err, isTerminal());
    }

    /** Whether standard error, which has the progress, is a terminal. */
    private static boolean isTerminal() {
        try {
            String name = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return name.startsWith("/dev/pts/") || name.startsWith("/dev/tty");
        } catch (IOException | RuntimeException e) {
            return System.console() != null;
        }
    }

    /**
     * Prints and writes the result.
     *
     * @return the exit code: 130 if the run was interrupted, 1 if a limit was broken or a client could not be connected
     */
    int report(LoadResult result, PrintStream out, PrintStream err) {
        List<String> broken = new Limits(maxP99, maxP999, maxLoss, maxDuplicates, minRate).brokenBy(result);
        out.print(SummaryTable.of(result));
        out.flush();
        write(json, JsonReport.of(result, broken));
        write(csv, CsvReport.of(result));
        write(html, HtmlReport.of(result, broken));
        broken.forEach(limit -> err.println("limit broken: " + limit));
        if (result.interrupted()) {
            err.println("interrupted: what was measured until then was reported");
            return Interruption.EXIT_CODE;
        }
        return broken.isEmpty() && result.connectFailures() == 0 ? 0 : 1;
    }

    private static void write(@Nullable Path file, String text) {
        if (file != null) {
            try {
                Files.writeString(file, text);
            } catch (IOException e) {
                throw new LoadFailure(file + " cannot be written: " + e.getMessage());
            }
        }
    }
}
