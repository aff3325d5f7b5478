// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HoconFileTest {

    @TempDir
    Path directory;

    @Test
    void keysAreFlatWithTheirLines() {
        assertThat(read("""
                a.b = 1 # one
                a { c : "x // y", d = [1, 2] } // two
                list = [
                  { e = true }
                  { e = null }
                ]
                size = 1MB
                empty = []
                text = \"""two
                lines\"""
                after = 10s
                """))
                .extracting(setting -> setting.where() + " " + setting.key() + "=" + setting.value())
                .containsExactlyInAnyOrder(
                        "f:1 a.b=1",
                        "f:2 a.c=x // y",
                        "f:2 a.d=1,2",
                        "f:4 list[0].e=true",
                        "f:5 list[1].e=",
                        "f:7 size=1MB",
                        "f:8 empty=",
                        "f:10 text=two\nlines",
                        "f:11 after=10s");
    }

    @Test
    void substitutionsStandForPlainValuesOfTheSameFile() {
        assertThat(read("""
                host = 10.0.0.1
                bind = ${host}":1883"
                again = ${?bind}
                gone = ${?HOME}
                placeholder = "${username}"
                """))
                .extracting(setting -> setting.key() + "=" + setting.value())
                .containsExactly(
                        "host=10.0.0.1", "bind=10.0.0.1:1883", "again=10.0.0.1:1883", "placeholder=${username}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a = ${HOME} | f:1: the substitution ${HOME} is no key of the file, and the environment is not read",
                "a = ${a} | f:1: the substitution ${a} refers to itself",
                "a = ${b}, b = ${a} | refers to itself",
                "b { c = 1 }, a = ${b} | f:1: the substitution ${b} is an object or a list",
                "b { c = 1 }, a = ${b} { d = 2 } | f:1: is not valid HOCON: an object",
                "a = [1], a += 2 | f:1: adds to a list with +=",
                "a = ${b | f:1: has a substitution ${…} that is not the name of a key",
                "a = ${b c} | has a substitution",
                "a = 1 } | closes a bracket that is not open",
                "a = [ | f:1: is not valid HOCON",
                "a = \"x | f:1: has a text that is not closed",
                "a = \"\"\"x | f:1: has a text that is not closed",
                "include \"../x.conf\" | f:1: includes a file outside of the directory of f",
                "include file(\"/etc/passwd\") | f:1: includes a file outside",
                "include url(\"http://127.0.0.1:1/x\") | f:1: includes something else than a file",
                "include classpath(\"reference.conf\") | f:1: includes something else than a file",
                "include required(\"none.conf\") | f:1: requires a file that is not there",
            })
    void whatCannotBeReadIsRefusedWithItsLine(String text, String problem) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void includedFilesAreBelowTheDirectoryAndKeepTheirNames() throws IOException {
        Files.createDirectory(directory.resolve("sub"));
        Files.writeString(directory.resolve("sub/a.conf"), "x = 1\ninclude \"b.conf\"\n");
        Files.writeString(directory.resolve("sub/b.conf"), "y = ${top}\n");
        Files.writeString(directory.resolve("self.conf"), "include \"self.conf\"\n");

        assertThat(read("top = 2\ninner { include \"sub/a.conf\" }\ninclude \"none.conf\"\n"))
                .extracting(OldSetting::toString)
                .containsExactly("f:1: top", "sub/a.conf:1: inner.x", "sub/b.conf:1: inner.y");
        assertThat(HoconFile.read(file("include \"none.conf\"")).missing()).containsExactly("f:1");
        assertThatThrownBy(() -> read("include \"self.conf\"")).hasMessageContaining("includes more than 20 files");
    }

    @Test
    void linkOutOfTheDirectoryIsNotFollowed(@TempDir Path elsewhere) throws IOException {
        Path secret = Files.writeString(elsewhere.resolve("secret.conf"), "a = 1");
        Files.createSymbolicLink(directory.resolve("link.conf"), secret);

        assertThatThrownBy(() -> read("include \"link.conf\"")).hasMessageContaining("outside of the directory");
    }

    /** Each of these takes minutes, gigabytes or a deep stack if a parser gets it as it is. */
    @Test
    @Timeout(60)
    void hostileFilesEndWithAnError() {
        assertThat(List.of(
                        nestedSubstitutions("[${a%1$d}, ${a%1$d}]"),
                        nestedSubstitutions("${a%1$d}${a%1$d}"),
                        nestedSubstitutions("{ x = ${a%1$d}, y = ${a%1$d} }"),
                        "a = " + "[".repeat(100_000),
                        "a" + ".a".repeat(100_000) + " = 1",
                        "{a=".repeat(5_000) + "1",
                        "a = " + "true ".repeat(100_000),
                        "a = " + "true".repeat(100_000),
                        "a = " + "[1]".repeat(100_000),
                        "a = " + "\"x\"".repeat(100_000),
                        "a = " + "${b}".repeat(100_000),
                        "a.b.c.d = 1\n".repeat(60_000),
                        "a = [" + "1,".repeat(400_000) + "]\nb = ]"))
                .allSatisfy(text -> assertThatThrownBy(() -> read(text))
                        .isInstanceOf(ConfigurationException.class)
                        .hasMessageStartingWith("f:"));
    }

    private static String nestedSubstitutions(String form) {
        StringBuilder text = new StringBuilder("a0 = \"0123456789\"\n");
        for (int i = 1; i < 100; i++) {
            text.append("a")
                    .append(i)
                    .append(" = ")
                    .append(String.format(form, i - 1))
                    .append('\n');
        }
        return text.toString();
    }

    /** Characters that have a meaning, in any order: the file is read, or refused with the documented error. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void anyTextIsReadOrRefused(long seed) {
        Random random = new Random(seed);
        String[] words = {
            "a",
            "b.c",
            "=",
            ":",
            "{",
            "}",
            "[",
            "]",
            ",",
            "\n",
            " ",
            "\"x\"",
            "\"\"\"",
            "${a}",
            "${?b.c}",
            "+=",
            "#",
            "//",
            "include ",
            "1",
            "true",
            "\\",
            "\"",
            "null",
            "url(",
            ")",
            "\uE000" + "0\uE001",
            "$",
            "é",
            "-1e9",
            "."
        };
        for (int round = 0; round < 2_000; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(40); i > 0; i--) {
                text.append(words[random.nextInt(words.length)]);
            }
            try {
                read(text.toString())
                        .forEach(setting ->
                                assertThat(HoconReferences.has(setting.value())).isFalse());
            } catch (ConfigurationException e) {
                assertThat(e.getMessage()).as("seed %d: %s", seed, text).matches("(?s)f(:[0-9]+)?: .*");
            }
        }
    }

    private List<OldSetting> read(String text) {
        return HoconFile.read(file(text)).settings();
    }

    private OldFile file(String text) {
        return new OldFile(directory.resolve("f"), "f", text);
    }
}
