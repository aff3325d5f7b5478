// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import io.smqtt.rules.sql.grammar.RuleSqlParser;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.misc.IntervalSet;
import org.antlr.v4.runtime.misc.ParseCancellationException;
import org.jspecify.annotations.Nullable;

/** Ends the parser at the first mistake, with a message in plain English about what was found and what is expected there. */
final class SyntaxErrors extends BaseErrorListener {

    private static final Set<String> OPERATORS =
            Set.of("'+'", "'-'", "'*'", "'/'", "'='", "'!='", "'<>'", "'<'", "'>'", "'<='", "'>='", "'=~'");
    private static final Set<Integer> OPERATOR_WORDS =
            Set.of(RuleSqlParser.AND, RuleSqlParser.OR, RuleSqlParser.IN, RuleSqlParser.DIV, RuleSqlParser.MOD);

    private final String sql;

    SyntaxErrors(String sql) {
        this.sql = sql;
    }

    @Override
    public void syntaxError(
            Recognizer<?, ?> recognizer,
            @Nullable Object symbol,
            int line,
            int column,
            String message,
            @Nullable RecognitionException cause) {
        Token token = Objects.requireNonNull(
                cause != null && cause.getOffendingToken() != null ? cause.getOffendingToken() : (Token) symbol);
        IntervalSet expected = ((Parser) recognizer).getExpectedTokens();
        throw new ParseCancellationException(new RuleSqlException(
                describe(token, expected), sql, token.getLine(), token.getCharPositionInLine() + 1));
    }

    private static String describe(Token token, IntervalSet expected) {
        String found =
                token.getType() == Token.EOF ? "the statement ends here" : "unexpected " + shown(token.getText());
        if (token.getText().equals("'") || token.getText().equals("\"")) {
            return "the text that begins here has no closing quotation mark";
        }
        List<String> wanted = wanted(expected);
        if (wanted.isEmpty()) {
            return found;
        }
        String last = wanted.get(wanted.size() - 1);
        String list =
                wanted.size() == 1 ? last : String.join(", ", wanted.subList(0, wanted.size() - 1)) + " or " + last;
        return found + "; expected is " + list;
    }

    private static String shown(String text) {
        return text.length() > 40 ? "'" + text.substring(0, 40) + "…'" : "'" + text + "'";
    }

    private static List<String> wanted(IntervalSet expected) {
        Set<String> names = new LinkedHashSet<>();
        boolean value = expected.contains(RuleSqlParser.INTEGER) && expected.contains(RuleSqlParser.CASE);
        if (value) {
            names.add("a value (a field, a number, text in quotation marks, a function)");
        }
        boolean operator = false;
        for (int type : expected.toArray()) {
            String name = RuleSqlParser.VOCABULARY.getLiteralName(type);
            if (value && "'*'".equals(name)) {
                names.add(name);
            } else if (OPERATOR_WORDS.contains(type) || name != null && OPERATORS.contains(name)) {
                operator |= !value;
            } else if (!value || !belongsToValue(type)) {
                names.add(name(type, name));
            }
        }
        List<String> list = new ArrayList<>(names);
        if (operator) {
            list.add("an operator");
        }
        return list;
    }

    private static boolean belongsToValue(int type) {
        String literal = RuleSqlParser.VOCABULARY.getLiteralName(type);
        return switch (type) {
            case RuleSqlParser.INTEGER,
                    RuleSqlParser.DECIMAL,
                    RuleSqlParser.STRING,
                    RuleSqlParser.QUOTED,
                    RuleSqlParser.BACKQUOTED,
                    RuleSqlParser.NAME,
                    RuleSqlParser.NOT,
                    RuleSqlParser.CASE -> true;
            default -> literal != null && Set.of("'('", "'['", "'{'").contains(literal);
        };
    }

    private static String name(int type, @Nullable String literal) {
        return switch (type) {
            case Token.EOF -> "the end";
            case RuleSqlParser.INTEGER -> "an integer";
            case RuleSqlParser.DECIMAL -> "a number";
            case RuleSqlParser.STRING, RuleSqlParser.QUOTED -> "text in quotation marks";
            case RuleSqlParser.NAME, RuleSqlParser.BACKQUOTED -> "a name";
            default -> {
                String word = RuleSqlParser.VOCABULARY.getSymbolicName(type);
                yield word == null ? String.valueOf(literal) : word;
            }
        };
    }
}
