// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows the extensions of the program. */
@Command(name = "ext", description = "Shows the extensions in the folder ext beside smqtt.jar.")
final class ExtCommand implements Runnable {

    @Spec
    @Nullable
    CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "list?");
        }
    }

    /** Lists them. */
    @Command(
            name = "list",
            description =
                    "Lists the extensions with version, what the broker finds in them, and their jars. A jar in ext itself is on the "
                            + "class path of the program; a folder in ext has a class loader of its own.")
    static final class ListAll implements Callable<Integer> {

        private final ProgramContext program;

        ListAll(ProgramContext program) {
            this.program = program;
        }

        @Override
        public Integer call() {
            return list(Extensions.folder());
        }

        /** Lists the extensions of a folder. */
        int list(Path ext) {
            List<JsonNode> rows = new ArrayList<>();
            List<String> problems = new ArrayList<>();
            for (Extension extension : Extensions.folders(ext)) {
                rows.add(row(extension, String.join(", ", extension.provides())));
                problems.addAll(extension.problems());
            }
            ClassLoader program = ListAll.class.getClassLoader();
            for (Path jar : Extension.jars(ext)) {
                Extension extension = new Extension(jar.getFileName().toString(), List.of(jar), program);
                rows.add(row(extension, "class path"));
                problems.addAll(extension.problems());
            }
            new TextTable(
                            List.of(
                                    TextTable.Column.of("EXTENSION", "name"),
                                    TextTable.Column.of("VERSION", "version"),
                                    TextTable.Column.of("PROVIDES", "provides"),
                                    TextTable.Column.of("JARS", "jars")),
                            0,
                            this.program.out())
                    .print(rows);
            problems.forEach(problem -> this.program.err().println("smqtt: " + problem));
            return problems.isEmpty() ? ExitCode.OK : ExitCode.UNEXPECTED;
        }

        private static ObjectNode row(Extension extension, String provides) {
            return JsonNodeFactory.instance
                    .objectNode()
                    .put("name", extension.name())
                    .put("version", extension.version())
                    .put("provides", provides)
                    .put(
                            "jars",
                            String.join(
                                    ", ",
                                    extension.jars().stream()
                                            .map(path -> path.getFileName().toString())
                                            .toList()));
        }
    }
}
