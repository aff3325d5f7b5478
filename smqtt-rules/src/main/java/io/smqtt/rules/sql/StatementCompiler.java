// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import io.smqtt.rules.sql.grammar.RuleSqlParser;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.misc.Interval;
import org.antlr.v4.runtime.tree.ParseTree;
import org.jspecify.annotations.Nullable;

/**
 * Makes a program of a parsed statement. WHERE is evaluated first if it needs no name that the statement gives, so that a message that does
 * not match costs nothing else.
 */
final class StatementCompiler {

    private static final int STEPS = 32;

    private final String sql;
    private final Scope scope = new Scope();
    private final ExpressionCompiler expressions;
    private final Set<String> needed = new HashSet<>();

    StatementCompiler(String sql) {
        this.sql = sql;
        this.expressions = new ExpressionCompiler(sql, scope);
    }

    RuleProgram compile(RuleSqlParser.StatementContext statement) {
        collectVariables(statement, needed);
        RuleSqlParser.SelectContext select = statement.select();
        if (select != null) {
            return new RuleProgram(sql, sources(select.sources()), select(select));
        }
        RuleSqlParser.ForeachContext foreach = statement.foreach();
        return new RuleProgram(sql, sources(foreach.sources()), foreach(foreach));
    }

    private List<RuleProgram.Source> sources(RuleSqlParser.SourcesContext context) {
        List<RuleProgram.Source> sources = new ArrayList<>();
        for (RuleSqlParser.SourceContext source : context.source()) {
            String text = ExpressionCompiler.unquote(source.getText());
            if (text.isEmpty()) {
                throw expressions.error(source.getStart(), "a topic filter or event must not be empty");
            }
            sources.add(new RuleProgram.Source(
                    text, source.getStart().getLine(), source.getStart().getCharPositionInLine() + 1));
        }
        return sources;
    }

    private RuleProgram.Plan select(RuleSqlParser.SelectContext context) {
        boolean first = !needs(context.condition, aliases(context.columns()));
        RuleProgram.Clause where = first ? clause("WHERE", context.condition) : null;
        Columns columns = columns("SELECT", context.columns());
        if (!first) {
            where = clause("WHERE", context.condition);
        }
        return new RuleProgram.Plan(List.of(), where, first, null, columns, Map.of(), scope.size(), scope.paths);
    }

    private RuleProgram.Plan foreach(RuleSqlParser.ForeachContext context) {
        List<RuleSqlParser.BindingContext> written = context.binding();
        Set<String> given = new HashSet<>();
        for (int index = 0; index < written.size(); index++) {
            given.add(nameOf(written.get(index), index == written.size() - 1));
        }
        boolean first = !needs(context.condition, given);
        RuleProgram.Clause where = first ? clause("WHERE", context.condition) : null;
        List<RuleProgram.Binding> bindings = new ArrayList<>();
        for (int index = 0; index < written.size(); index++) {
            RuleSqlParser.BindingContext binding = written.get(index);
            Expr expr = expressions.compile(binding.expression());
            int slot = scope.name(nameOf(binding, index == written.size() - 1));
            bindings.add(new RuleProgram.Binding(text(binding.expression()), expr, slot));
        }
        if (!first) {
            where = clause("WHERE", context.condition);
        }
        RuleProgram.Clause incase = clause("INCASE", context.incase);
        Map<String, Integer> names = new TreeMap<>(scope.names());
        Columns columns = context.columns() == null ? null : columns("DO", context.columns());
        return new RuleProgram.Plan(bindings, where, first, incase, columns, names, scope.size(), scope.paths);
    }

    private String nameOf(RuleSqlParser.BindingContext binding, boolean last) {
        if (binding.name() != null) {
            return ExpressionCompiler.unquote(binding.name().getText());
        }
        if (!last) {
            throw expressions.error(
                    binding.getStop(), "only the last expression of FOREACH, which is the array, may be without AS");
        }
        return "item";
    }

    private RuleProgram.@Nullable Clause clause(String name, RuleSqlParser.@Nullable ExpressionContext condition) {
        return condition == null ? null : new RuleProgram.Clause(name, text(condition), expressions.compile(condition));
    }

    private Columns columns(String clause, RuleSqlParser.ColumnsContext context) {
        List<Columns.Column> columns = new ArrayList<>();
        for (RuleSqlParser.ColumnContext column : context.column()) {
            columns.add(
                    column instanceof RuleSqlParser.ValueContext value
                            ? column(value)
                            : new Columns.Column.Everything(new TreeMap<>(scope.names())));
        }
        return new Columns(clause, columns);
    }

    private Columns.Column column(RuleSqlParser.ValueContext context) {
        Expr expr = expressions.compile(context.expression());
        String text = text(context);
        if (context.target() == null) {
            List<Object> path = expressions.pathOf(context.expression());
            return path == null
                    ? new Columns.Column.Value(text, expr, text(context.expression()), List.of(), -1, false)
                    : new Columns.Column.Value(
                            text, expr, (String) path.get(0), path.subList(1, path.size()), -1, false);
        }
        String name = ExpressionCompiler.unquote(context.target().name().getText());
        List<Object> steps = steps(context.target());
        boolean known = scope.slot(name) != null;
        int slot = known || needed.contains(name) ? scope.name(name) : -1;
        return new Columns.Column.Value(text, expr, name, steps, slot, known);
    }

    private List<Object> steps(RuleSqlParser.TargetContext target) {
        List<Object> steps = new ArrayList<>();
        for (RuleSqlParser.PlaceContext place : target.place()) {
            if (place instanceof RuleSqlParser.PlaceKeyContext key) {
                steps.add(ExpressionCompiler.unquote(key.key().getText()));
            } else if (place instanceof RuleSqlParser.PlaceIndexContext index) {
                steps.add(index(index));
            }
        }
        if (steps.size() > STEPS) {
            throw expressions.error(target.getStart(), "a name has more than " + STEPS + " parts");
        }
        return steps;
    }

    private Long index(RuleSqlParser.PlaceIndexContext place) {
        boolean fromEnd = place.getText().startsWith("[-");
        long index = expressions.number(place.INTEGER().getSymbol());
        return index == 0 ? (fromEnd ? Paths.BACK : Paths.FRONT) : (Long) (fromEnd ? -index : index);
    }

    private static Set<String> aliases(RuleSqlParser.ColumnsContext context) {
        Set<String> names = new HashSet<>();
        for (RuleSqlParser.ColumnContext column : context.column()) {
            if (column instanceof RuleSqlParser.ValueContext value && value.target() != null) {
                names.add(ExpressionCompiler.unquote(value.target().name().getText()));
            }
        }
        return names;
    }

    private static boolean needs(@Nullable ParseTree tree, Set<String> names) {
        Set<String> variables = new HashSet<>();
        if (tree != null) {
            collectVariables(tree, variables);
        }
        variables.retainAll(names);
        return !variables.isEmpty();
    }

    private static void collectVariables(ParseTree tree, Set<String> names) {
        if (tree instanceof RuleSqlParser.VariableContext || tree instanceof RuleSqlParser.QuotedContext) {
            names.add(ExpressionCompiler.unquote(tree.getText()));
        }
        for (int index = 0; index < tree.getChildCount(); index++) {
            collectVariables(tree.getChild(index), names);
        }
    }

    /** The part of the statement, with spaces for line breaks. */
    private static String text(ParserRuleContext context) {
        return context.getStart()
                .getInputStream()
                .getText(Interval.of(
                        context.getStart().getStartIndex(), context.getStop().getStopIndex()))
                .replaceAll("\\s+", " ");
    }
}
