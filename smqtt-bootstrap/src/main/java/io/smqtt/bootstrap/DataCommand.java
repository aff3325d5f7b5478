// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import io.smqtt.persistence.ReplicaCopier;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreInUseException;
import io.smqtt.persistence.StoreSettings;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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

    /** While a broker runs it alone has the store. */
    private static RocksBrokerStore openOrAdvise(DataDirectory data, StoreSettings settings) {
        try {
            return data.openExisting(settings);
        } catch (StoreInUseException e) {
            throw new BadDataException(e.getMessage()
                    + ". Make a backup with \"smqtt data backup DIR\", which can be done while the broker runs, and give"
                    + " --data DIR to this command");
        }
    }

    private static StoreSettings verified(DataDirectory directory) {
        return directory.settings().withVerifyBytes(Long.MAX_VALUE);
    }

    /** Writes everything as lines of JSON. */
    @Command(
            name = "export",
            description =
                    "Writes all sessions, their messages, and retained messages as lines of JSON. The broker must "
                            + "not run; of a running broker export a backup.")
    static final class Export extends ConfiguredCommand {

        @Parameters(paramLabel = "FILE", description = "Names the new file; - is standard output.")
        String file = STANDARD;

        Export(ProgramContext program) {
            super(program);
        }

        @Override
        public Integer call() {
            DataDirectory data = dataDirectory();
            DataProgress progress = new DataProgress(program().err(), "exported");
            try (RocksBrokerStore store = openOrAdvise(data, data.settings())) {
                if (file.equals(STANDARD)) {
                    toStandardOutput(store, progress);
                } else {
                    toFile(program().directory().resolve(file), store, progress);
                }
            } catch (IOException e) {
                throw new BadDataException("the export cannot be written: " + e);
            }
            progress.end();
            return ExitCode.OK;
        }

        private void toStandardOutput(RocksBrokerStore store, DataProgress progress) throws IOException {
            OutputStream out = new BufferedOutputStream(program().out());
            new DataExport(store, out, progress).run();
            out.flush();
            if (program().out().checkError()) { // it throws nothing
                throw new IOException("standard output was closed");
            }
        }

        private void toFile(Path path, RocksBrokerStore store, DataProgress progress) throws IOException {
            if (Files.exists(path)) {
                throw new BadDataException(file + " exists already");
            }
            try (OutputStream out = new BufferedOutputStream(OwnerFile.create(path))) {
                new DataExport(store, out, progress).run();
            } catch (IOException | RuntimeException e) {
                Files.deleteIfExists(path);
                throw e;
            }
        }
    }

    /** Reads what {@link Export} wrote. */
    @Command(
            name = "import",
            description = "Reads sessions and retained messages from a file of the export command. The data directory "
                    + "must not have any. Everything is imported, or nothing.")
    static final class Import extends ConfiguredCommand {

        @Parameters(paramLabel = "FILE", description = "Names the file to read; - is standard input.")
        String file = STANDARD;

        Import(ProgramContext program) {
            super(program);
        }

        @Override
        public Integer call() {
            DataDirectory data = dataDirectory();
            DataProgress progress = new DataProgress(program().err(), "imported");
            try (InputStream in = input()) {
                data.requireEmpty();
                DataDirectory incomplete = data.beside();
                try {
                    read(in, incomplete, progress);
                    incomplete.replace(data);
                } finally {
                    DataDirectory.deleteAll(incomplete.store());
                }
            } catch (IOException e) {
                throw new BadDataException("the export cannot be imported: " + e);
            }
            progress.end();
            return ExitCode.OK;
        }

        private static void read(InputStream in, DataDirectory data, DataProgress progress) throws IOException {
            try (RocksBrokerStore store = data.open(data.settings())) {
                new DataImport(store, in, progress).run();
            }
        }

        private InputStream input() {
            if (file.equals(STANDARD)) {
                return new BufferedInputStream(program().in());
            }
            Path path = program().directory().resolve(file);
            if (Files.isDirectory(path)) { // which can be opened
                throw new ConfigurationException(file + ": the file is a directory, but must be a file");
            }
            try {
                return new BufferedInputStream(Files.newInputStream(path));
            } catch (IOException e) {
                throw new ConfigurationException(file + ": the file " + FileProblem.reason(path, e));
            }
        }
    }

    /** Reads everything. */
    @Command(
            name = "check",
            description = "Reads the whole store and compares checksums. Exits with 0, or with 5 and the name of the "
                    + "damaged file. The broker must not run; of a running broker check a backup.")
    static final class Check extends ConfiguredCommand {

        Check(ProgramContext program) {
            super(program);
        }

        @Override
        public Integer call() throws IOException {
            DataDirectory data = dataDirectory();
            DataProgress progress = new DataProgress(program().err(), "read");
            try (RocksBrokerStore store = openOrAdvise(data, verified(data))) {
                DataExport all = new DataExport(store, OutputStream.nullOutputStream(), progress);
                all.run();
                program().out().println("all is well: " + all.summary());
            }
            return ExitCode.OK;
        }
    }

    /** Copies the store. */
    @Command(
            name = "backup",
            description = "Copies the store to a new directory, also while the broker runs. The copy is a data "
                    + "directory: start with --data DIR to use it, with one replica or several.")
    static final class Backup extends ConfiguredCommand {

        @Option(
                names = "--timeout",
                paramLabel = "SECONDS",
                description = "Sets the maximum time for a running broker. The default is ${DEFAULT-VALUE}.")
        int timeoutSeconds = 600;

        @Option(
                names = "--store",
                paramLabel = "NODE",
                description = "Copies the store of another node, as its replica here has it. The broker must not run.")
        @Nullable
        String node;

        @Parameters(paramLabel = "DIR", description = "Names the new directory.")
        String target = "";

        Backup(ProgramContext program) {
            super(program);
        }

        @Override
        public Integer call() {
            DataDirectory data = dataDirectory();
            if (!data.hasReplicas()) {
                data.requireExisting();
            }
            Path copy = program().directory().resolve(target);
            if (Files.exists(copy)) {
                throw new BadDataException(target + " exists already");
            }
            try {
                copy(data, copy.resolve("store"), Duration.ofSeconds(timeoutSeconds));
            } catch (UncheckedIOException e) {
                throw new BadDataException(String.valueOf(e.getMessage()));
            }
            program().out().println("backup made in " + target);
            return ExitCode.OK;
        }

        private void copy(DataDirectory data, Path copy, Duration patience) {
            if (data.hasReplicas()) {
                ServiceLoader.load(ReplicaCopier.class, Extensions.loader())
                        .findFirst()
                        .orElseThrow(() -> new BadDataException("replicas need the extension replication in lib/ext"))
                        .copy(data.directory(), node, copy, patience);
            } else if (node == null) {
                RocksBrokerStore.backup(data.store(), copy, patience);
            } else {
                throw new BadDataException("--store: there are no replicas of other nodes in " + data.directory());
            }
        }
    }
}
