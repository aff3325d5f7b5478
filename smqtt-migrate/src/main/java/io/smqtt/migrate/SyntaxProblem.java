// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.regex.Pattern;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/** The reason that a YAML parser gives, without what it quotes of the file, which may be a secret. */
public final class SyntaxProblem {

    /** Kinds of tokens, such as {@code <block end>}, are the parser's own words; tag handles, names and characters are the file's. */
    private static final Pattern QUOTED = Pattern.compile(
            "(tag handle|tag|alias|anchor|directive|document|character|name) +[^ ].*|'[^'<]*'|\"[^\"<]*\"|[^ ]*\\\\.*");

    private SyntaxProblem() {}

    /**
     * Words a parser's complaint.
     *
     * @param failure the exception
     * @return for instance {@code expected <block end>, but found '-'}
     */
    public static String of(MarkedYAMLException failure) {
        String problem = String.valueOf(failure.getProblem());
        if (problem.contains("Do not use \\t(TAB)")) {
            return "the line is indented by a tab; YAML requires spaces";
        }
        return QUOTED.matcher(problem).replaceAll(found -> found.group(1) == null ? "…" : found.group(1) + " …");
    }
}
