// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.ArrayList;
import java.util.List;

/** A list of functions under construction. */
final class FunctionFamily {

    private final List<Function> functions = new ArrayList<>();

    /**
     * Adds a function whose result depends on nothing but its arguments.
     *
     * @param signature name and parameters, optional ones in brackets: {@code nth(n, array)}, {@code split(text, separator[, option])};
     *     {@code …} for any number more
     */
    FunctionFamily add(String signature, String text, Function.Body body) {
        return add(signature, text, true, constants -> body);
    }

    /** Adds one whose result depends on the event, the time or chance. */
    FunctionFamily live(String signature, String text, Function.Body body) {
        return add(signature, text, false, constants -> body);
    }

    /** Adds one that prepares constant arguments. */
    FunctionFamily bound(String signature, String text, Function.Binding binding) {
        return add(signature, text, true, binding);
    }

    private FunctionFamily add(String signature, String text, boolean fixed, Function.Binding binding) {
        int open = signature.indexOf('(');
        String parameters = signature.substring(open + 1, signature.length() - 1);
        int least = count(parameters.replaceAll("\\[[^\\]]*\\]", ""));
        int most = parameters.contains("…") ? 100 : count(parameters);
        functions.add(new Function(signature.substring(0, open), least, most, signature, text, fixed, binding));
        return this;
    }

    private static int count(String parameters) {
        return parameters.isBlank()
                ? 0
                : (int) parameters.chars().filter(c -> c == ',').count() + 1;
    }

    List<Function> functions() {
        return List.copyOf(functions);
    }
}
