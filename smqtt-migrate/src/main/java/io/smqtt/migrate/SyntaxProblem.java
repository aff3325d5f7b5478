// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.regex.Pattern;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/** The error of a YAML parser, without quoted parts of the file, which may be secrets. */
public final class SyntaxProblem {

    /** Kinds of tokens, such as {@code <block end>}, are the parser's own words; tag handles, names and characters are the file's. */
    private static final Pattern QUOTED = Pattern.compile(
            "(tag handle|tag|alias|anchor|directive|document|character|name) +[^ ].*|'[^'<]*'|\"[^\"<]*\"|[^ ]*\\\\.*");

    private SyntaxProblem() {}

    /**
     * Formats the error of a parser.
     *
     * @param failure the exception
     * @return for example {@code expected <block end>, but found '-'}
     */
    public static String of(MarkedYAMLException failure) {
        String problem = String.valueOf(failure.getProblem());
        if (problem.contains("Do not use \\t(TAB)")) {
            return "the line is indented by a tab; YAML requires spaces";
        }
        return QUOTED.matcher(problem).replaceAll(found -> found.group(1) == null ? "…" : found.group(1) + " …");
    }
}
