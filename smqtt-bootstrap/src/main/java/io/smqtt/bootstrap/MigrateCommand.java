// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigurationException;
import io.smqtt.message.LogText;
import io.smqtt.migrate.Migration;
import io.smqtt.migrate.OldBroker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes the configuration of another broker in our keys; standard error carries a line for each key that differs. */
@Command(
        name = "migrate",
        description = "Translates the configuration of another broker: config.yaml or config.properties of the "
                + "former smqtt, mosquitto.conf, moquette.conf, emqx.conf. Standard error lists each key that differs or "
                + "has no counterpart, and what to do.")
final class MigrateCommand implements Callable<Integer> {

    private final ProgramContext program;

    @Parameters(index = "0", paramLabel = "OLD", description = "Names the file of the other broker.")
    String old = "";

    @Nullable
    @Option(
            names = {"-o", "--output"},
            paramLabel = "NEW",
            description = "Names the new file; users and rules go into files beside it. By default the configuration "
                    + "goes to standard output, and no file is written.")
    String output;

    @Nullable
    @Option(
            names = "--from",
            paramLabel = "BROKER",
            description = "Names the broker of OLD, if it is not recognized: one of ${COMPLETION-CANDIDATES}.")
    OldBroker from;

    MigrateCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() {
        Path file = program.directory().resolve(old);
        Migration migration = Migration.read(file, old, from);
        Path target =
                output == null ? null : program.directory().resolve(output).toAbsolutePath();
        String name = target == null ? "smqtt" : stem(target);
        // A value that is out of our range is found here, by the key that it came from.
        EffectiveConfig.bind(EffectiveConfig.schema(), migration.values(program.directory(), name));
        migration.notes().forEach(program.err()::println);
        String text = "# " + migration.broker() + ": from " + LogText.escapeControls(old) + "\n"
                + YamlText.of(migration.settings(name), migration::origin);
        if (target == null) {
            program.out().print(text);
            return ExitCode.OK;
        }
        write(migration, target, name, text);
        return ExitCode.OK;
    }

    private void write(Migration migration, Path target, String name, String text) {
        Path directory = target.getParent() == null ? program.directory() : target.getParent();
        try {
            if (Files.exists(target)) {
                throw new FileAlreadyExistsException(target.toString());
            }
            for (Path written : migration.writeAccessFiles(directory, name, false)) {
                program.out().println("wrote " + written);
            }
            Files.writeString(target, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW);
            program.out().println("wrote " + target);
        } catch (FileAlreadyExistsException e) {
            throw new ConfigurationException(List.of(output + ": exists already"));
        } catch (IOException e) {
            throw new ConfigurationException(List.of(output + ": cannot be written"));
        }
    }

    private static String stem(Path file) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        return dot > 0 ? name.substring(0, dot) : name;
    }
}
