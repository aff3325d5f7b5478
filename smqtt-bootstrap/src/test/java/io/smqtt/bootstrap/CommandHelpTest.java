// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.PasswordFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The habits of a command line: help everywhere, words for what is wrong, completion and manual pages. */
class CommandHelpTest {

    private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    static Stream<List<String>> commands() {
        List<List<String>> paths = new ArrayList<>();
        collect(root(), List.of(), paths);
        return paths.stream();
    }

    private static void collect(CommandLine command, List<String> path, List<List<String>> paths) {
        if (!command.getCommandSpec().usageMessage().hidden()) {
            paths.add(path);
            command.getSubcommands().forEach((name, sub) -> {
                List<String> below = new ArrayList<>(path);
                below.add(name);
                collect(sub, below, paths);
            });
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandHasHelpOfWholeWordsAndSentences(List<String> path) {
        List<String> flag = new ArrayList<>(path);
        flag.add("--help");
        assertThat(run(flag)).isEqualTo(ExitCode.OK);
        String shown = out.toString(StandardCharsets.UTF_8);
        out.reset();
        List<String> command = new ArrayList<>(List.of("help"));
        command.addAll(path);
        assertThat(run(command)).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).as("help and --help").isEqualTo(shown);
        assertThat(shown.lines()).allMatch(line -> line.length() <= 80);
        assertThat(shown.chars()).allMatch(c -> c < 0x80, "plain characters");

        CommandSpec spec = at(path).getCommandSpec();
        Set<String> words = new HashSet<>(Arrays.asList(shown.split("\\s+")));
        List<String> texts = new ArrayList<>(Arrays.asList(spec.usageMessage().description()));
        spec.options().forEach(option -> texts.addAll(Arrays.asList(option.description())));
        spec.positionalParameters().forEach(parameter -> texts.addAll(Arrays.asList(parameter.description())));
        for (String text : texts) {
            String plain = WholeWords.restored(text);
            if (!path.contains("bench")) {
                assertThat(plain).matches("(?s)[A-Z].*[.]");
            }
            assertThat(Arrays.stream(plain.split("\\s+")).filter(word -> !word.contains("${") && !word.contains("%")))
                    .as("no word is broken")
                    .isSubsetOf(words);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "start --confg x          | smqtt start has no flag --confg, did you mean --config?",
                "start --confg=x          | smqtt start has no flag --confg, did you mean --config?",
                "ctl clients --lmit 1     | smqtt ctl clients has no flag --lmit, did you mean --limit?",
                "start -x                 | smqtt start has no flag -x",
                "strat                    | smqtt has no command strat, did you mean start?",
                "config chekc             | smqtt config has no command chekc, did you mean check?",
                "help strat               | smqtt has no command strat, did you mean start?",
                "config check more        | smqtt config check takes no arguments beside its flags",
                "passwd f u p             | only with -b is the password an argument",
                "passwd -b f u            | -b takes FILE, USER and PASSWORD",
                "top --interval often     | '--interval' is not a number",
                "ctl clients --json=x     | --json takes no value",
                "bench pub -t t --qoos 1  | smqtt bench pub has no flag --qoos, did you mean --qos?",
            })
    void whatIsWrongIsSaidWithTheNearestThatThereIs(String line, String problem) {
        assertThat(run(Arrays.asList(line.split(" ")))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("smqtt: ").contains(problem, "--help");
    }

    @Test
    void versionIsAFlagToo() {
        assertThat(run(List.of("--version"))).isEqualTo(ExitCode.OK);
        String flag = out.toString(StandardCharsets.UTF_8);
        out.reset();
        assertThat(run(List.of("version"))).isEqualTo(ExitCode.OK);

        assertThat(flag).startsWith("smqtt ").contains("java ").isEqualTo(out.toString(StandardCharsets.UTF_8));
    }

    @Test
    void verboseIsTheLevelOfTheLogAndCountsLessThanSet() {
        assertThat(run(List.of("config", "print", "-v"))).isEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("level: debug  # -v");
        out.reset();
        run(List.of("config", "print", "-vv"));
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("level: trace  # -v");
        out.reset();
        run(List.of("config", "print", "-v", "--set", "logging.level=warn"));
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("level: warn  # --set logging.level");
        run(List.of("config", "check", "--set", "x=1"));
        assertThat(err.toString(StandardCharsets.UTF_8)).doesNotContain("\tat ");
        run(List.of("config", "check", "-v", "--set", "x=1"));
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("\tat ");
    }

    @Test
    void theExitCodesAreATableThatTheDocumentHasToo() throws IOException {
        assertThat(run(List.of("help", "exit-codes"))).isEqualTo(ExitCode.OK);
        String shown = out.toString(StandardCharsets.UTF_8);
        String document = Files.readString(REPOSITORY.resolve("docs/getting-started.md"));

        ExitCode.meanings().forEach((code, meaning) -> {
            assertThat(shown.replaceAll("\\s+", " ")).contains(" " + code + " " + meaning);
            assertThat(document).contains("| " + code + " | " + meaning + " |");
        });
    }

    @Test
    void aPasswordCanBeAnArgumentWhereThatIsAskedFor() throws IOException {
        assertThat(run(List.of("passwd", "-c", "-b", "-I", "1", "users", "anna", "geheim")))
                .isEqualTo(ExitCode.OK);

        assertThat(PasswordFile.read(directory.resolve("users")).userNames()).containsExactly("anna");
        assertThat(Files.readString(directory.resolve("users"))).doesNotContain("geheim");
        assertThat(out.toString(StandardCharsets.UTF_8)).doesNotContain("geheim");
    }

    @Test
    void scriptsOfShellsAreOfThisProgram() throws IOException, InterruptedException {
        for (String shell : List.of("bash", "zsh", "fish")) {
            out.reset();
            assertThat(run(List.of("completion", shell))).isEqualTo(ExitCode.OK);
            String script = out.toString(StandardCharsets.UTF_8);
            assertThat(script).contains("migrate", "smqtt", "token-file");
            assertThat(script.chars()).allMatch(c -> c < 0x80);
            Files.writeString(directory.resolve("smqtt." + shell), script);
        }
        assertThat(directory.resolve("smqtt.zsh")).content().startsWith("#compdef smqtt\n");
        String completed = """
                source smqtt.bash
                COMP_WORDS=(smqtt config mig) COMP_CWORD=2
                _complete_smqtt
                echo "${COMPREPLY[@]}"
                """;
        Process bash = new ProcessBuilder("bash", "-c", completed)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                .isEqualTo("migrate");
        assertThat(bash.waitFor()).isZero();
    }

    @Test
    void manualPagesAreThereForEveryCommand() throws IOException {
        assertThat(run(List.of("man", "pages"))).isEqualTo(ExitCode.OK);

        List<String> names = commands()
                .map(path -> "smqtt" + (path.isEmpty() ? "" : "-" + String.join("-", path)) + ".1")
                .toList();
        try (Stream<Path> pages = Files.list(directory.resolve("pages"))) {
            assertThat(pages.map(page -> page.getFileName().toString())).containsExactlyInAnyOrderElementsOf(names);
        }
        String start = Files.readString(directory.resolve("pages/smqtt-start.1"));
        assertThat(start)
                .startsWith(".TH SMQTT-START 1 ")
                .contains(
                        ".SH NAME\nsmqtt\\-start \\- Starts the broker",
                        ".SH OPTIONS\n",
                        ".B \\-c, \\-\\-config FILE\n")
                .contains(".SH EXIT STATUS\n", ".SH SEE ALSO\nsmqtt(1)\n")
                .doesNotContain("${");
        for (OptionSpec option : at(List.of("start")).getCommandSpec().options()) {
            assertThat(start).contains(option.longestName().replace("-", "\\-"));
        }
    }

    private static CommandLine root() {
        return SmqttMain.commandLine(
                surroundings(new ByteArrayOutputStream(), new ByteArrayOutputStream(), Path.of("")));
    }

    private static CommandLine at(List<String> path) {
        CommandLine command = root();
        for (String name : path) {
            command = command.getSubcommands().get(name);
        }
        return command;
    }

    private int run(List<String> arguments) {
        return SmqttMain.run(surroundings(out, err, directory), arguments.toArray(String[]::new));
    }

    private static Surroundings surroundings(ByteArrayOutputStream out, ByteArrayOutputStream err, Path directory) {
        return new Surroundings(
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                directory,
                (config, legacy, beforehand) -> {
                    throw new AssertionError("was started");
                },
                new Signals() {
                    @Override
                    public void onStop(Runnable action) {}

                    @Override
                    public void onReload(Runnable action) {}

                    @Override
                    public void halt() {}
                },
                System::nanoTime,
                Set.of("smqtt-persistence", "smqtt-cluster"));
    }
}
