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

    /** All commands, to be read only. */
    private static final CommandLine ROOT = root();

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
                "ctl clients list --lmit 1 | smqtt ctl clients list has no flag --lmit, did you mean --limit?",
                "ctl clients lst          | smqtt ctl clients has no command lst, did you mean list?",
                "ctl bnas                 | smqtt ctl has no command bnas",
                "ctl                      | smqtt ctl needs one of status, whoami, ",
                "ctl retained             | smqtt ctl retained needs one of list, show, delete",
                "ctl clients list --user a --api-key b | --user and --api-key exclude each other",
                "ctl nodes --secret-file f | --secret-file is for --user or --api-key",
                "ctl bans add clientid x --for soon | --for': it takes a number with a unit, such as 90s",
                "ctl bans delete clientid | bans delete takes KIND and WHO, or --all",
                "ctl bans delete --all clientid x | bans delete takes KIND and WHO, or --all",
                "ctl trace start t        | Missing required argument",
                "ctl trace start t --client c --topic t | mutually exclusive",
                "ctl trace delete         | trace delete takes NAME or --all",
                "ctl users change anna    | --role or --description says what to change",
                "start -x                 | smqtt start has no flag -x",
                "strat                    | smqtt has no command strat, did you mean start?",
                "config chekc             | smqtt config has no command chekc, did you mean check?",
                "help strat               | smqtt has no command strat, did you mean start?",
                "config check more        | smqtt config check takes no arguments beside its flags",
                "passwd f u p             | only with -b is the password an argument",
                "passwd -b f u            | -b takes FILE, USER and PASSWORD",
                "top --interval often     | '--interval' is not a number",
                "ctl clients list --json=x | --json takes no value",
                "start --set novalue      | --set takes KEY=VALUE, such as --set listeners.tcp.port=1884",
                "start --set              | (KEY=VALUE)",
                "start --config=          | --config needs the name of a file, but is empty",
                "config check --data=     | --data needs the name of a directory, but is empty",
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
    void scriptsOfShellsAreOfThisProgram() throws IOException {
        for (String shell : List.of("bash", "zsh", "fish")) {
            out.reset();
            assertThat(run(List.of("completion", shell))).isEqualTo(ExitCode.OK);
            String script = out.toString(StandardCharsets.UTF_8);
            assertThat(script).contains("migrate", "smqtt", "token-file");
            assertThat(script.chars()).allMatch(c -> c < 0x80);
            Files.writeString(directory.resolve("smqtt." + shell), script);
        }
        assertThat(directory.resolve("smqtt.zsh")).content().startsWith("#compdef smqtt\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "config mig           | migrate",
                "config migrate --from | smqtt mosquitto moquette emqx",
                "start --profile      | small default large",
                "help con             | config",
                "help ex              | ext exit-codes",
                "ctl help ex          | explain export exit-codes",
                "ctl cl               | clients cluster",
                "ctl clients ki       | kick",
                "ctl users add --role | administrator operator viewer",
                "completion           | bash zsh fish",
            })
    void bashCompletesCommandsAndTheWordsOfFlags(String line, String words) throws IOException, InterruptedException {
        run(List.of("completion", "bash"));
        Files.writeString(directory.resolve("smqtt.bash"), out.toString(StandardCharsets.UTF_8));
        boolean begun = words.split(" ")[0].startsWith(line.substring(line.lastIndexOf(' ') + 1));
        String typed = begun ? line : line + " ''";
        String completed = """
                compopt() { :; } # which works for a shell that completes only
                source smqtt.bash
                COMP_WORDS=(smqtt %s) COMP_CWORD=%d
                _complete_smqtt
                echo "${COMPREPLY[@]}"
                """.formatted(typed, typed.split(" ").length);
        Process bash = new ProcessBuilder("bash", "-c", completed)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                        .strip()
                        .split("\\s+"))
                .containsExactlyInAnyOrder(words.split(" "));
        assertThat(bash.waitFor()).isZero();
    }

    @Test
    void fishCompletesByTheWholeCommand() {
        run(List.of("completion", "fish"));
        String script = out.toString(StandardCharsets.UTF_8);
        List<String> offers =
                script.lines().filter(line -> line.startsWith("complete ")).toList();

        assertThat(script)
                .contains("case ' start' ", "'config check'", "'start --profile'")
                .doesNotContain("__fish_seen_subcommand_from");
        for (String check : List.of("config check", "data check")) {
            assertThat(offers)
                    .as(check)
                    .anyMatch(line -> line.startsWith("complete -c smqtt -n '__smqtt_at \"" + check + "\"' -l set -r"));
        }
        assertThat(offers)
                .anyMatch(line -> line.startsWith("complete -c smqtt -n '__smqtt_next \"config\"' -a migrate"))
                .anyMatch(line -> line.startsWith(
                        "complete -c smqtt -n '__smqtt_at \"start\"' -l profile -x -a 'small default large'"))
                .anyMatch(line -> line.startsWith("complete -c smqtt -n '__smqtt_next \"help\"' -a exit-codes"))
                .anyMatch(line -> line.startsWith("complete -c smqtt -n '__smqtt_next \"help config\"' -a migrate"))
                .anyMatch(line ->
                        line.startsWith("complete -c smqtt -n '__smqtt_next \"completion\"' -a 'bash zsh fish'"))
                .noneMatch(line -> line.contains("help config\"' -a exit-codes"))
                .noneMatch(line -> line.contains("-a warm-up"));
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
        return SmqttMain.commandLine(program(new ByteArrayOutputStream(), new ByteArrayOutputStream(), Path.of("")));
    }

    private static CommandLine at(List<String> path) {
        CommandLine command = ROOT;
        for (String name : path) {
            command = command.getSubcommands().get(name);
        }
        return command;
    }

    private int run(List<String> arguments) {
        return SmqttMain.run(program(out, err, directory), arguments.toArray(String[]::new));
    }

    private static ProgramContext program(ByteArrayOutputStream out, ByteArrayOutputStream err, Path directory) {
        return new ProgramContext(
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                directory,
                (config, legacy, beforehand) -> {
                    throw new AssertionError("was started");
                },
                new NoSignals(),
                System::nanoTime,
                Set.of("smqtt-persistence", "smqtt-cluster"));
    }
}
