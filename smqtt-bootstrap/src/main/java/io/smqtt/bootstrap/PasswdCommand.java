// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.access.PasswordFile;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Changes a password file. A password is asked for twice on a terminal, and else read as the first line of standard input;
 * it is no argument, because everybody on a machine can read the arguments of a process.
 */
@Command(
        name = "passwd",
        description = {
            "Sets or deletes the password of a user in a password file of mosquitto's format. The password is read from the "
                    + "terminal, or from the first line of standard input. A running broker reloads the file on SIGHUP."
        })
final class PasswdCommand implements Callable<Integer> {

    private final ProgramContext program;

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(
            names = {"-c", "--create"},
            description = "Creates the file, which must not exist.")
    boolean create;

    @Option(
            names = {"-b", "--batch"},
            description =
                    "Takes the password as the last argument, like mosquitto_passwd. Use it for tests only: every "
                            + "local user can read the arguments of a process.")
    boolean batch;

    @Option(
            names = {"-D", "--delete"},
            description = "Deletes the user.")
    boolean delete;

    @Option(
            names = "--scram",
            description = "Stores a hash for SCRAM-SHA-256, which also verifies plain passwords. mosquitto cannot read "
                    + "it.")
    boolean scram;

    @Option(
            names = {"-I", "--iterations"},
            description = "Sets the iterations of the hash. The default is ${DEFAULT-VALUE}.")
    int iterations = PasswordFile.DEFAULT_ITERATIONS;

    @Parameters(index = "0", paramLabel = "FILE", description = "Names the password file.")
    String file = "";

    @Parameters(index = "1", paramLabel = "USER", description = "Is the user name.")
    String userName = "";

    @Nullable
    @Parameters(index = "2", arity = "0..1", paramLabel = "PASSWORD", description = "Is the password; only with -b.")
    String givenPassword;

    PasswdCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() throws IOException {
        if (batch == (givenPassword == null) || (batch && delete)) {
            throw usage(
                    batch && delete
                            ? "-b and -D exclude each other"
                            : batch
                                    ? "-b takes FILE, USER and PASSWORD"
                                    : "smqtt passwd takes FILE and USER; only with -b is the password an argument");
        }
        Path path = program.directory().resolve(file);
        PasswordFile users = open(path);
        if (delete) {
            if (!users.delete(userName)) {
                throw new ConfigurationException(file + ": has no user " + userName);
            }
        } else {
            set(users);
        }
        write(users, path);
        program.out().println((delete ? "deleted " : "set ") + userName + " in " + file);
        return ExitCode.OK;
    }

    private PasswordFile open(Path path) {
        boolean exists = Files.exists(path);
        if (create && exists) {
            throw usage(file + " exists already; leave out --create to change it");
        }
        if (!create && !exists) {
            throw usage(file + " does not exist; --create makes it");
        }
        return create ? PasswordFile.empty() : PasswordFile.read(path);
    }

    private void write(PasswordFile users, Path path) {
        try {
            users.write(path);
        } catch (IOException e) {
            throw new ConfigurationException(file + ": cannot be written ("
                    + e.getClass().getSimpleName() + "); check the directory and its permissions");
        }
    }

    private void set(PasswordFile users) throws IOException {
        PasswordFile.Kind kind = scram ? PasswordFile.Kind.SCRAM_SHA_256 : PasswordFile.Kind.PBKDF2_SHA_512;
        try {
            users.set(userName, password().getBytes(StandardCharsets.UTF_8), kind, iterations);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private String password() throws IOException {
        if (givenPassword != null) {
            return givenPassword;
        }
        try {
            return new SecretInput(program).chosen(null);
        } catch (SecretInput.DifferentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private RuntimeException usage(String message) {
        return spec == null ? new IllegalStateException(message) : new ParameterException(spec.commandLine(), message);
    }
}
