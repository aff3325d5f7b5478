// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

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
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
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
            description = "Writes all sessions, their messages, and retained messages as lines of JSON. The broker "
                    + "must not run; export a backup if it does.")
    static final class Export extends ConfiguredCommand {

        @Parameters(paramLabel = "FILE", description = "Names the file to make; - is standard output.")
        String file = STANDARD;

        Export(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        public Integer call() {
            DataDirectory data = dataDirectory();
            DataProgress progress = new DataProgress(surroundings().err(), "exported");
            try (RocksBrokerStore store = openOrAdvise(data, data.settings())) {
                if (file.equals(STANDARD)) {
                    toStandardOutput(store, progress);
                } else {
                    toFile(surroundings().directory().resolve(file), store, progress);
                }
            } catch (IOException e) {
                throw new BadDataException("the export cannot be written: " + e);
            }
            progress.end();
            return ExitCode.OK;
        }

        private void toStandardOutput(RocksBrokerStore store, DataProgress progress) throws IOException {
            OutputStream out = new BufferedOutputStream(surroundings().out());
            new DataExport(store, out, progress).run();
            out.flush();
            if (surroundings().out().checkError()) { // it throws nothing
                throw new IOException("standard output was closed");
            }
        }

        private void toFile(Path path, RocksBrokerStore store, DataProgress progress) throws IOException {
            if (Files.exists(path)) {
                throw new BadDataException(file + " exists already");
            }
            try (OutputStream out = new BufferedOutputStream(createPrivately(path))) {
                new DataExport(store, out, progress).run();
            } catch (IOException | RuntimeException e) {
                Files.deleteIfExists(path);
                throw e;
            }
        }

        private static OutputStream createPrivately(Path path) throws IOException {
            if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(
                        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
                return Files.newOutputStream(path);
            }
            return Files.newOutputStream(path, StandardOpenOption.CREATE_NEW);
        }
    }

    /** Reads what {@link Export} wrote. */
    @Command(
            name = "import",
            description = "Reads sessions and retained messages from lines of JSON, as export writes them. The "
                    + "data directory must not hold any yet. All of the file is imported, or nothing.")
    static final class Import extends ConfiguredCommand {

        @Parameters(paramLabel = "FILE", description = "Names the file to read; - is standard input.")
        String file = STANDARD;

        Import(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        public Integer call() {
            DataDirectory data = dataDirectory();
            DataProgress progress = new DataProgress(surroundings().err(), "imported");
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

        private InputStream input() throws IOException {
            if (file.equals(STANDARD)) {
                return new BufferedInputStream(surroundings().in());
            }
            Path path = surroundings().directory().resolve(file);
            if (!Files.isReadable(path) || Files.isDirectory(path)) {
                throw new BadDataException(file + " cannot be read");
            }
            return new BufferedInputStream(Files.newInputStream(path));
        }
    }

    /** Reads everything. */
    @Command(
            name = "check",
            description = "Reads all that is stored and compares checksums. Exits with 0 if all is well, and with "
                    + "5 and the name of the damaged file if not. The broker must not run; check a backup if "
                    + "it does.")
    static final class Check extends ConfiguredCommand {

        Check(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        public Integer call() throws IOException {
            DataDirectory data = dataDirectory();
            DataProgress progress = new DataProgress(surroundings().err(), "read");
            try (RocksBrokerStore store = openOrAdvise(data, verified(data))) {
                DataExport all = new DataExport(store, OutputStream.nullOutputStream(), progress);
                all.run();
                surroundings().out().println("all is well: " + all.summary());
            }
            return ExitCode.OK;
        }
    }

    /** Copies the store. */
    @Command(
            name = "backup",
            description = "Copies the store to a directory that does not exist, also while the broker runs. The "
                    + "copy is a data directory: start with --data DIR to use it.")
    static final class Backup extends ConfiguredCommand {

        @Option(
                names = "--timeout",
                paramLabel = "SECONDS",
                description = "Sets how long a running broker may take. The default is ${DEFAULT-VALUE}.")
        int timeoutSeconds = 600;

        @Parameters(paramLabel = "DIR", description = "Names the directory to make.")
        String target = "";

        Backup(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        public Integer call() {
            DataDirectory data = dataDirectory();
            data.requireExisting();
            Path copy = surroundings().directory().resolve(target);
            if (Files.exists(copy)) {
                throw new BadDataException(target + " exists already");
            }
            try {
                RocksBrokerStore.backup(data.store(), copy.resolve("store"), Duration.ofSeconds(timeoutSeconds));
            } catch (UncheckedIOException e) {
                throw new BadDataException(String.valueOf(e.getMessage()));
            }
            surroundings().out().println("backup made in " + target);
            return ExitCode.OK;
        }
    }
}
