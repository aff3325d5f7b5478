// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A program of the tests that makes load in a process of its own. It says when it is ready, begins with the first line of its standard input,
 * may take further lines as orders, tells figures, and ends with its input. Safe for use by several threads.
 */
final class LoadProcess implements AutoCloseable {

    /** The line of a program that waits for its beginning. */
    static final String READY = "ready";

    private static final String FIGURES = "figures ";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** How far the priority of these processes is below that of the broker, which they would not share a machine with: 0 to 19. */
    private static final String NICE = System.getProperty("smqtt.load.nice", "0");

    private final CapturedProcess process;
    private volatile long[] figures = {};

    private LoadProcess(Class<?> program, Object[] arguments) {
        List<String> command = new ArrayList<>(List.of(
                "nice",
                "-n",
                NICE,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                BrokerProcess.SHORT_LIVED,
                "-cp",
                classPath(),
                program.getName()));
        Arrays.stream(arguments).map(String::valueOf).forEach(command::add);
        process = CapturedProcess.start(program.getSimpleName(), new ProcessBuilder(command), this::observe);
    }

    /** Starts a program, and does not wait for it. */
    static LoadProcess start(Class<?> program, Object... arguments) {
        return new LoadProcess(program, arguments);
    }

    /** The classes of the tested broker and those of the tests. */
    static String classPath() {
        try {
            Path tests = Path.of(LoadProcess.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return jar() + ":" + tests;
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path jar() {
        Path tested = Path.of(System.getProperty("smqtt.jar", ""));
        Path jar = Files.isRegularFile(tested) ? tested : Path.of("../smqtt-bootstrap/target/smqtt.jar");
        return jar.toAbsolutePath().normalize();
    }

    /** Tells figures; for the program itself. */
    static void tell(long... figures) {
        System.out.println(
                FIGURES + LongStream.of(figures).mapToObj(String::valueOf).collect(Collectors.joining(" ")));
    }

    private void observe(String line) {
        if (line.startsWith(FIGURES)) {
            figures = Arrays.stream(line.substring(FIGURES.length()).split(" "))
                    .mapToLong(Long::parseLong)
                    .toArray();
        }
    }

    /** Waits until it is ready, and lets it begin. */
    void begin() {
        process.awaitLine("being ready", READY::equals, PATIENCE);
        order();
    }

    /** Gives it a further line. */
    void order() {
        try {
            process.process().getOutputStream().write('\n');
            process.process().getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The figure at a place that it told last; 0 before the first. */
    long figure(int place) {
        long[] known = figures;
        return place < known.length ? known[place] : 0;
    }

    @Override
    public void close() {
        process.close();
    }
}
