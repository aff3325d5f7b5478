// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import io.smqtt.rules.sql.grammar.RuleSqlLexer;
import io.smqtt.rules.sql.grammar.RuleSqlParser;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.misc.ParseCancellationException;

/** Compiles statements of the rule language. Safe for use by several threads. */
public final class RuleSql {

    /** The longest statement in characters. */
    public static final int LONGEST = 32_768;

    private static final int TOKENS = 5_000;
    private static final int NESTING = 64;

    private RuleSql() {}

    /**
     * Compiles a statement.
     *
     * @param sql the statement, at most {@link #LONGEST} characters
     * @return a program, immutable
     * @throws RuleSqlException if it is not valid
     */
    public static RuleProgram compile(String sql) throws RuleSqlException {
        if (sql.length() > LONGEST) {
            throw new RuleSqlException("the statement has more than " + LONGEST + " characters", sql, 1, 1);
        }
        RuleSqlLexer lexer = new RuleSqlLexer(CharStreams.fromString(sql));
        lexer.removeErrorListeners();
        CommonTokenStream tokens = new CommonTokenStream(lexer);
        tokens.fill();
        checkSize(sql, tokens);
        RuleSqlParser parser = new RuleSqlParser(tokens);
        parser.removeErrorListeners();
        parser.addErrorListener(new SyntaxErrors(sql));
        try {
            return new StatementCompiler(sql).compile(parser.statement());
        } catch (ParseCancellationException e) {
            if (e.getCause() instanceof RuleSqlException cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** Parser and evaluation go down as deep as parentheses, so there is a limit. */
    private static void checkSize(String sql, CommonTokenStream tokens) throws RuleSqlException {
        int depth = 0;
        for (Token token : tokens.getTokens()) {
            switch (token.getType()) {
                case RuleSqlParser.CASE, RuleSqlParser.NOT -> depth++;
                case RuleSqlParser.END -> depth--;
                default -> {
                    String text = token.getText();
                    if (text.equals("(") || text.equals("[") || text.equals("{")) {
                        depth++;
                    } else if (text.equals(")") || text.equals("]") || text.equals("}")) {
                        depth--;
                    }
                }
            }
            if (depth > NESTING) {
                throw new RuleSqlException(
                        "more than " + NESTING + " expressions are nested",
                        sql,
                        token.getLine(),
                        token.getCharPositionInLine() + 1);
            }
        }
        if (tokens.size() > TOKENS) {
            throw new RuleSqlException("the statement has more than " + TOKENS + " words", sql, 1, 1);
        }
    }
}
