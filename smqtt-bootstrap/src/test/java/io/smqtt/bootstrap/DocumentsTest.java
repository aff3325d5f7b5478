// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.spi.DropReason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the documents say of files, keys, configuration and scripts is there. */
class DocumentsTest {

    private static final Path ROOT = Path.of("..");

    /** The first column of the tables, where other brokers' keys are. */
    private static final Pattern OTHERS_KEYS = Pattern.compile("(?m)^\\|[^|\n]*(?=\\|)");

    /** A file of the data directory, and a key of Spring Boot. */
    private static final Set<String> NO_KEYS =
            Set.of("management.token", "management.endpoints.web.exposure.include", "mqtt.schema");

    @TempDir
    Path directory;

    private static List<Path> documents() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> deploy = Files.walk(ROOT.resolve("deploy"))) {
            return Stream.of(top, docs, deploy)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        Pattern link = Pattern.compile("]\\(([^)#\\s:]+)(?:#[^)\\s]*)?\\)");
        List<String> broken = new ArrayList<>();
        for (Path document : documents()) {
            Matcher matcher = link.matcher(Files.readString(document));
            while (matcher.find()) {
                if (!Files.exists(document.resolveSibling(matcher.group(1)))) {
                    broken.add(document + ": " + matcher.group(1));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    /** Blocks that are the broker's own configuration are told by their first key. */
    @Test
    void configurationInTheDocumentsIsTakenByTheBroker() throws IOException {
        Set<String> roots = EffectiveConfig.schema().describe().stream()
                .map(key -> key.name().split("\\.")[0])
                .collect(Collectors.toCollection(TreeSet::new));
        Pattern block = Pattern.compile("(?ms)^```yaml\n(.*?)^```$");
        int taken = 0;
        for (Path document : documents()) {
            Matcher matcher = block.matcher(Files.readString(document));
            while (matcher.find()) {
                String yaml = matcher.group(1);
                if (roots.contains(yaml.split(":", 2)[0])) {
                    assertThat(bind(yaml)).as("%s: %s", document, yaml).isNotNull();
                    taken++;
                }
            }
        }
        assertThat(taken).isGreaterThan(5);
    }

    private EffectiveConfig bind(String yaml) throws IOException {
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), yaml);
        ConfigSchema schema = EffectiveConfig.schema();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        YamlFile.read(file, file.toString(), values);
        return EffectiveConfig.bind(schema, values);
    }

    /** Such as {@code limits.max-connections} between backquotes. */
    @Test
    void everyKeyThatIsNamedExists() throws IOException {
        Set<String> known = EffectiveConfig.schema().describe().stream()
                .map(ConfigKey::name)
                .collect(Collectors.toSet());
        Set<String> groups = known.stream()
                .filter(name -> name.contains("."))
                .map(name -> name.substring(0, name.lastIndexOf('.')))
                .collect(Collectors.toSet());
        Pattern named = Pattern.compile(
                "`((?:limits|session|mqtt|access|storage|cluster|management|logging|listeners\\.<name>)\\.[a-z0-9.-]+)`");
        List<String> unknown = new ArrayList<>();
        int found = 0;
        for (Path document : documents()) {
            String text = Files.readString(document);
            if (document.endsWith("migration.md")) {
                text = OTHERS_KEYS.matcher(text).replaceAll("");
            }
            Matcher matcher = named.matcher(text.replaceAll("`listeners\\.(tcp|ws|tls)\\.", "`listeners.<name>."));
            while (matcher.find()) {
                String key = matcher.group(1);
                found++;
                if (!NO_KEYS.contains(key) && !known.contains(key) && !groups.contains(key)) {
                    unknown.add(document + ": " + key);
                }
            }
        }
        assertThat(unknown).isEmpty();
        assertThat(found).isGreaterThan(100);
    }

    /** Files of the repository that a command in the documents for operators names. */
    @Test
    void everyFileInACommandExists() throws IOException {
        Pattern named = Pattern.compile(
                "(?<![\\w./-])((?:deploy|config|bin|smqtt-benchmark/bin|smqtt-it|\\.ci)/[A-Za-z0-9_./-]+)");
        Set<String> missing = new TreeSet<>();
        int found = 0;
        for (Path document : documents()) {
            Matcher block = Pattern.compile("(?ms)^```\n(.*?)^```$").matcher(Files.readString(document));
            while (block.find()) {
                Matcher matcher = named.matcher(block.group(1));
                while (matcher.find()) {
                    found++;
                    if (!Files.exists(ROOT.resolve(matcher.group(1)))) {
                        missing.add(document + ": " + matcher.group(1));
                    }
                }
            }
        }
        assertThat(missing).isEmpty();
        assertThat(found).isGreaterThan(10);
    }

    /** With {@code --help} behind it, which runs nothing, but says what it does not know. */
    @Test
    void everyCommandOfTheProgramIsUnderstood() throws IOException {
        Pattern command = Pattern.compile("(?<![\\w/.-])(?:\\.\\./)*bin/smqtt ([a-z][^`|>&;\n#]*)");
        List<String> wrong = new ArrayList<>();
        int found = 0;
        for (Path document : documents()) {
            Matcher matcher = command.matcher(
                    Files.readString(document).replaceAll(" *\\\\\n *", " ").replaceAll("  the start script", ""));
            while (matcher.find()) {
                found++;
                String words = matcher.group(1).strip();
                String problem = problemWith(words);
                if (!problem.isEmpty()) {
                    wrong.add(document + ": bin/smqtt " + words + ": " + problem);
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(found).isGreaterThan(30);
    }

    private String problemWith(String words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        ProgramContext program = new ProgramContext(
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                directory,
                (config, legacy, beforehand) -> {
                    throw new IllegalStateException("nothing is to be started");
                },
                Signals.ofProcess(),
                System::nanoTime,
                Set.of());
        int code = SmqttMain.run(program, (words + " --help").split(" +"));
        return code == ExitCode.OK ? "" : err.toString(StandardCharsets.UTF_8);
    }

    /** Blocks that begin with the name of a program. */
    @Test
    void everyCommandIsInTheSyntaxOfTheShell() throws Exception {
        Pattern block = Pattern.compile(
                "(?ms)^```(?:sh|bash|shell)?\n((?!listener )(?:[a-z]+|\\.ci/[a-z]+|[a-z-]+/bin/[a-z]+) .*?)^```$");
        List<String> wrong = new ArrayList<>();
        int found = 0;
        for (Path document : documents()) {
            Matcher matcher = block.matcher(Files.readString(document));
            while (matcher.find()) {
                found++;
                Process shell = new ProcessBuilder("bash", "-n")
                        .redirectErrorStream(true)
                        .start();
                try (OutputStream script = shell.getOutputStream()) {
                    script.write(matcher.group(1).getBytes(StandardCharsets.UTF_8));
                }
                String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                if (shell.waitFor() != 0) {
                    wrong.add(document + ": " + said + matcher.group(1));
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(found).isGreaterThan(10);
    }

    /** Commands for what no test has: an engine for containers, a cluster, a running systemd, the kernel's own settings. */
    @Test
    void commandsThatWereNotRunSaySo() throws IOException {
        Pattern command =
                Pattern.compile("(?m)(?:^|`)(?:docker|kubectl|helm|systemctl|sysctl) (?!lint|template)[a-z-]");
        List<String> unmarked = new ArrayList<>();
        int found = 0;
        for (Path document : documents()) {
            for (String section : Files.readString(document).split("(?m)^## ")) {
                if (command.matcher(section).find()) {
                    found++;
                    if (!section.toLowerCase(Locale.ROOT).contains("**not run**")) {
                        unmarked.add(
                                document + ": " + section.lines().findFirst().orElse(""));
                    }
                }
            }
        }
        assertThat(unmarked).isEmpty();
        assertThat(found).isGreaterThan(4);
    }

    /** Such as {@code smqtt.messages.dropped} with its {@code reason="queue_count"}. */
    @Test
    void everyMeterThatIsNamedExists() throws IOException {
        String meters = Files.readString(ROOT.resolve("docs/metrics.md"));
        Set<String> reasons = Stream.of(DropReason.values())
                .map(reason -> reason.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        List<String> unknown = new ArrayList<>();
        int found = 0;
        for (String document :
                List.of("docs/deployment.md", "docs/tuning.md", "docs/troubleshooting.md", "deploy/README.md")) {
            String text = Files.readString(ROOT.resolve(document));
            Matcher meter = Pattern.compile("`(smqtt(?:\\.(?!(?:cdx|json|yaml|jar|service)\\b)[a-z]+)+)`")
                    .matcher(text);
            while (meter.find()) {
                found++;
                if (!meters.contains("| `" + meter.group(1) + "` |")) {
                    unknown.add(document + ": " + meter.group(1));
                }
            }
            Matcher reason = Pattern.compile("(?:reason=|`)\"([a-z_]+)\"").matcher(text);
            while (reason.find()) {
                found++;
                if (!reasons.contains(reason.group(1))) {
                    unknown.add(document + ": " + reason.group(1));
                }
            }
        }
        assertThat(unknown).isEmpty();
        assertThat(found).isGreaterThan(8);
    }

    /** {@code mkdocs build --strict} would warn of the same. */
    @Test
    void everyDocumentIsInTheContentsOfTheSite() throws IOException {
        String contents = Files.readString(ROOT.resolve("mkdocs.yml"));
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".md")))
                    .allSatisfy(file -> assertThat(contents)
                            .contains("- " + ROOT.resolve("docs").relativize(file) + "\n"));
        }
    }
}
