// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Classes that are loaded and verified once for all the programs that a run of the tests starts, as {@code bin/smqtt} does for its users. A
 * program that starts with the archive needs about half of the CPU time until it does something.
 */
final class ClassArchive {

    private static final long TRAINING_SECONDS = 120;

    private static List<String> made = List.of();

    private ClassArchive() {}

    /** The flags that read the archive of a jar; made at the first call, anew in each run of the tests. */
    static synchronized List<String> flags(List<String> java, Path jar) {
        if (made.isEmpty()) {
            Path archive = Path.of(
                            "target", "programs-" + ProcessHandle.current().pid() + ".jsa")
                    .toAbsolutePath();
            train(java, jar, archive);
            // what cannot be used of it is not used, and no line of the program says so
            made = List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:cds*=off");
        }
        return made;
    }

    private static void train(List<String> java, Path jar, Path archive) {
        List<String> command = new ArrayList<>(java);
        command.addAll(List.of("-XX:ArchiveClassesAtExit=" + archive, "-jar", jar.toString(), "warm-up"));
        Path log = Path.of(archive + ".log");
        try {
            Files.deleteIfExists(archive);
            Process training = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            if (!training.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS)) {
                training.destroyForcibly();
            }
            if (!Files.isRegularFile(archive)) {
                throw new IllegalStateException("no class archive was made: " + Files.readString(log));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the class archive was made", e);
        }
    }
}
