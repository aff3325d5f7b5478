// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A page of the documentation whose examples a test runs. */
record DocumentPage(String text) {

    /** Reads a page below {@code docs}. */
    static DocumentPage read(String name) throws IOException {
        return new DocumentPage(Files.readString(
                Path.of(System.getProperty("smqtt.home", "..")).resolve("docs").resolve(name)));
    }

    /** {@return the text of a code block, by its number from 0 among those of the language} */
    String block(String language, int number) {
        return matches("(?s)```" + language + "\n(.*?)```").get(number).group(1);
    }

    /** {@return the texts of all code blocks of the language} */
    List<String> blocks(String language) {
        return matches("(?s)```" + language + "\n(.*?)```").stream()
                .map(found -> found.group(1))
                .toList();
    }

    /** {@return the rows of the first table below a heading, each as its cells without their backquotes at the ends} */
    List<List<String>> table(String heading) {
        String section = text.substring(text.indexOf("## " + heading + "\n"));
        return section.substring(section.indexOf("|---"))
                .lines()
                .skip(1)
                .takeWhile(line -> line.startsWith("|"))
                .map(line -> Arrays.stream(line.substring(1).split("\\|"))
                        .map(cell -> cell.strip().replaceAll("^`|`$", ""))
                        .toList())
                .toList();
    }

    private List<MatchResult> matches(String pattern) {
        return Pattern.compile(pattern).matcher(text).results().toList();
    }

    /**
     * Runs the commands of the page's table of mosquitto_pub, and compares the answers.
     *
     * @param count the number of commands that the page has
     * @param publish runs mosquitto_pub with the options, and returns its output
     */
    void assertPublishAnswers(int count, UnaryOperator<String> publish) {
        List<MatchResult> rows = matches("(?m)^\\| `mosquitto_pub ([^`]*)` \\| (\\w+(?: authorized)?)");
        assertThat(rows).hasSize(count);
        assertThat(rows).allSatisfy(row -> {
            String output = publish.apply(row.group(1));
            switch (row.group(2)) {
                case "accepted" -> assertThat(output).as(row.group()).isEmpty();
                case "not authorized" -> assertThat(output).as(row.group()).containsIgnoringCase("not authorized");
                case "refused" -> assertThat(output).as(row.group()).containsIgnoringCase("bad user name or password");
                default -> throw new AssertionError("no answer in " + row.group());
            }
        });
    }
}
