// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Works on stored sessions, their messages and retained messages. */
@Command(name = "data", description = "Exports, imports, checks or backs up stored sessions and messages.")
final class DataCommand implements Runnable {

    private static final String STANDARD = "-";

    @Spec
    @Nullable
    CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "export, import, check or backup?");
        }
    }

    private static StoreSettings verified(DataDirectory directory) {
        return directory.settings().withVerifyBytes(Long.MAX_VALUE);
    }

    /** Writes everything as lines of JSON. */
    @Command(
            name = "export",
            description = {
                "Writes all sessions and retained messages as lines of JSON.",
                "The broker must not run; export a backup if it does."
            })
    static final class Export implements Callable<Integer> {

        private final Surroundings surroundings;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "FILE", description = "The file to make, or - for standard output.")
        String file = STANDARD;

        Export(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        @Override
        public Integer call() throws IOException {
            DataDirectory data =
                    DataDirectory.of(options.load(surroundings).broker().storage());
            DataProgress progress = new DataProgress(surroundings.err(), "exported");
            try (RocksBrokerStore store = data.openExisting(data.settings());
                    OutputStream out = output()) {
                new DataExport(store, out, progress).run();
            }
            progress.end();
            return ExitCode.OK;
        }

        private OutputStream output() throws IOException {
            if (file.equals(STANDARD)) {
                return new BufferedOutputStream(surroundings.out());
            }
            Path path = surroundings.directory().resolve(file);
            if (Files.exists(path)) {
                throw new BadDataException(file + " exists already");
            }
            return new BufferedOutputStream(Files.newOutputStream(path, StandardOpenOption.CREATE_NEW));
        }
    }

    /** Reads what {@link Export} wrote. */
    @Command(
            name = "import",
            description = {
                "Reads sessions and retained messages from lines of JSON, as export writes them.",
                "The data directory must not hold any yet."
            })
    static final class Import implements Callable<Integer> {

        private final Surroundings surroundings;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "FILE", description = "The file to read, or - for standard input.")
        String file = STANDARD;

        Import(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        @Override
        public Integer call() throws IOException {
            DataDirectory data =
                    DataDirectory.of(options.load(surroundings).broker().storage());
            DataProgress progress = new DataProgress(surroundings.err(), "imported");
            try (InputStream in = input();
                    RocksBrokerStore store = RocksBrokerStore.open(data.store(), data.settings())) {
                new DataImport(store, in, progress).run();
            }
            progress.end();
            return ExitCode.OK;
        }

        private InputStream input() throws IOException {
            if (file.equals(STANDARD)) {
                return new BufferedInputStream(surroundings.in());
            }
            Path path = surroundings.directory().resolve(file);
            if (!Files.isReadable(path)) {
                throw new BadDataException(file + " cannot be read");
            }
            return new BufferedInputStream(Files.newInputStream(path));
        }
    }

    /** Reads everything. */
    @Command(
            name = "check",
            description = {
                "Reads all that is stored and compares checksums. Exits with 0 if all is well, with 5 and the damaged",
                "file if not. The broker must not run; check a backup if it does."
            })
    static final class Check implements Callable<Integer> {

        private final Surroundings surroundings;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        Check(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        @Override
        public Integer call() throws IOException {
            DataDirectory data =
                    DataDirectory.of(options.load(surroundings).broker().storage());
            DataProgress progress = new DataProgress(surroundings.err(), "read");
            try (RocksBrokerStore store = data.openExisting(verified(data))) {
                DataExport all = new DataExport(store, OutputStream.nullOutputStream(), progress);
                all.run();
                surroundings.out().println("all is well: " + all.summary());
            }
            return ExitCode.OK;
        }
    }

    /** Copies the store. */
    @Command(
            name = "backup",
            description = {
                "Copies the store to a directory that does not exist, also while the broker runs.",
                "The copy is a data directory: start with --data DIR to use it."
            })
    static final class Backup implements Callable<Integer> {

        private final Surroundings surroundings;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        @Option(
                names = "--timeout",
                paramLabel = "SECONDS",
                description = "How long a running broker may take. Default: ${DEFAULT-VALUE}.")
        int timeoutSeconds = 600;

        @Parameters(paramLabel = "DIR", description = "The directory to make.")
        String target = "";

        Backup(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        @Override
        public Integer call() {
            DataDirectory data =
                    DataDirectory.of(options.load(surroundings).broker().storage());
            data.requireExisting();
            Path copy = surroundings.directory().resolve(target);
            if (Files.exists(copy)) {
                throw new BadDataException(target + " exists already");
            }
            try {
                RocksBrokerStore.backup(data.store(), copy.resolve("store"), Duration.ofSeconds(timeoutSeconds));
            } catch (UncheckedIOException e) {
                throw new BadDataException(String.valueOf(e.getMessage()));
            }
            surroundings.out().println("backup made in " + target);
            return ExitCode.OK;
        }
    }
}
