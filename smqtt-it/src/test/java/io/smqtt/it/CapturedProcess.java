// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A child process whose output is read all the time, kept (the last lines of it) for error messages, and searched for lines that
 * somebody waits for. It ends with this JVM at the latest. Safe for use by several threads.
 */
final class CapturedProcess implements AutoCloseable {

    private static final int LINES_KEPT = 400;

    private final String name;
    private final Process process;
    private final Thread hook;
    private final Deque<String> lines = new ArrayDeque<>();
    private boolean ended;

    private CapturedProcess(String name, Process process, Consumer<String> listener) {
        this.name = name;
        this.process = process;
        this.hook = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(hook);
        Thread reader = new Thread(() -> read(listener), name + " output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts the command; standard error joins standard output. The listener sees each line on the reading thread. */
    static CapturedProcess start(String name, ProcessBuilder command, Consumer<String> listener) {
        try {
            return new CapturedProcess(name, command.redirectErrorStream(true).start(), listener);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot start " + name + " (" + command.command().get(0) + ")", e);
        }
    }

    static CapturedProcess start(String name, ProcessBuilder command) {
        return start(name, command, line -> {});
    }

    private void read(Consumer<String> listener) {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                keep(line);
                listener.accept(line);
            }
        } catch (IOException e) {
            keep("(output ended: " + e.getMessage() + ")");
        } finally {
            end();
        }
    }

    private synchronized void keep(String line) {
        if (lines.size() == LINES_KEPT) {
            lines.removeFirst();
        }
        lines.addLast(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** Waits for a line and returns it; a line that is already there counts. Fails at the deadline or when the process ends. */
    synchronized String awaitLine(String what, Predicate<String> wanted, Duration patience) {
        long deadlineNanos = System.nanoTime() + patience.toNanos();
        while (true) {
            for (String line : lines) {
                if (wanted.test(line)) {
                    return line;
                }
            }
            long leftMillis = (deadlineNanos - System.nanoTime()) / 1_000_000;
            if (ended || leftMillis <= 0) {
                throw new IllegalStateException(
                        name + (ended ? whyItEnded() : " ran for " + patience) + " without " + what + report());
            }
            waitFor(leftMillis);
        }
    }

    /** In one line, since the summary of a build shows no more of a failure. */
    private String whyItEnded() {
        String code = process.isAlive() ? "" : " with exit code " + process.exitValue();
        return " ended" + code + (lines.isEmpty() ? "" : ", saying \"" + lines.getLast() + "\",");
    }

    private void waitFor(long millis) {
        try {
            wait(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The lines so far, oldest first. */
    synchronized List<String> output() {
        return List.copyOf(lines);
    }

    /** The output in a form that suits the end of an error message. */
    String report() {
        return "; its output:\n  " + String.join("\n  ", output());
    }

    Process process() {
        return process;
    }

    /** Waits for the end of the process and of its output, all of which is then in the report, and returns its exit code. */
    int awaitExit(Duration patience) {
        long deadlineNanos = System.nanoTime() + patience.toNanos();
        try {
            if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(name + " did not end within " + patience + report());
            }
            awaitEndOfOutput(deadlineNanos);
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private synchronized void awaitEndOfOutput(long deadlineNanos) {
        while (!ended) {
            long leftMillis = (deadlineNanos - System.nanoTime()) / 1_000_000;
            if (leftMillis <= 0) {
                throw new IllegalStateException(name + " ended, but something still holds its output open" + report());
            }
            waitFor(leftMillis);
        }
    }

    /** SIGTERM, which asks the process and its children to end. */
    void terminate() {
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
    }

    /** SIGKILL for the process and its children. */
    void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    @Override
    public void close() {
        kill();
        process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM is ending and runs the hook itself
        }
    }
}
