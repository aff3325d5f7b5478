// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import io.smqtt.rules.sql.grammar.RuleSqlParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.misc.ParseCancellationException;
import org.jspecify.annotations.Nullable;

/** Makes closures of parsed expressions. What does not depend on the event is calculated here, once. */
final class ExpressionCompiler {

    private static final RuleBudget FOLDING = new RuleBudget(10_000, 64 << 10);
    private static final RuleInput NOTHING = RuleInput.of(Map.of());

    private final String sql;
    private final Scope scope;

    ExpressionCompiler(String sql, Scope scope) {
        this.sql = sql;
        this.scope = scope;
    }

    /** The mistake at a place of the statement. */
    ParseCancellationException error(Token token, String message) {
        return new ParseCancellationException(
                new RuleSqlException(message, sql, token.getLine(), token.getCharPositionInLine() + 1));
    }

    /** An integer of the statement that has to have 64 bits. */
    long number(Token token) {
        if (Values.parse(token.getText()) instanceof Long number) {
            return number;
        }
        throw error(token, "an integer is too large");
    }

    /** Text without its quotation marks; doubled ones inside are one. */
    static String unquote(String text) {
        char mark = text.charAt(0);
        if (mark != '\'' && mark != '"' && mark != '`') {
            return text;
        }
        String inside = text.substring(1, text.length() - 1);
        return inside.indexOf(mark) < 0 ? inside : inside.replace("" + mark + mark, String.valueOf(mark));
    }

    Expr compile(RuleSqlParser.ExpressionContext context) {
        List<RuleSqlParser.ConjunctionContext> parts = context.conjunction();
        Expr result = conjunction(parts.get(0));
        for (int index = 1; index < parts.size(); index++) {
            Expr left = result;
            Expr right = conjunction(parts.get(index));
            result = (Expr.Condition) frame -> left.test(frame) || right.test(frame);
        }
        return result;
    }

    private Expr conjunction(RuleSqlParser.ConjunctionContext context) {
        List<RuleSqlParser.NegationContext> parts = context.negation();
        Expr result = negation(parts.get(0));
        for (int index = 1; index < parts.size(); index++) {
            Expr left = result;
            Expr right = negation(parts.get(index));
            result = (Expr.Condition) frame -> left.test(frame) && right.test(frame);
        }
        return result;
    }

    private Expr negation(RuleSqlParser.NegationContext context) {
        if (context instanceof RuleSqlParser.NotContext not) {
            Expr inner = negation(not.negation());
            return (Expr.Condition) frame -> !inner.test(frame);
        }
        RuleSqlParser.ComparisonContext comparison = ((RuleSqlParser.CompareContext) context).comparison();
        Expr value = sum(comparison.sum());
        if (comparison.test() instanceof RuleSqlParser.MembershipContext membership) {
            return membership(value, membership);
        }
        return comparison.test() instanceof RuleSqlParser.RelationContext relation ? relation(value, relation) : value;
    }

    private Expr membership(Expr value, RuleSqlParser.MembershipContext context) {
        Expr[] choices = context.expression().stream().map(this::compile).toArray(Expr[]::new);
        boolean wanted = context.NOT() == null;
        return (Expr.Condition) frame -> {
            Object found = value.eval(frame);
            for (Expr choice : choices) {
                if (Comparisons.equal(found, choice.eval(frame), frame.meter)) {
                    return wanted;
                }
            }
            return !wanted;
        };
    }

    private Expr relation(Expr left, RuleSqlParser.RelationContext context) {
        Expr right = sum(context.sum());
        try {
            return fold(Operators.relation(context.operator.getText(), left, right), left, right);
        } catch (RuleFailure e) {
            throw error(context.sum().getStart(), String.valueOf(e.getMessage()));
        }
    }

    private Expr sum(RuleSqlParser.SumContext context) {
        Expr result = product(context.product(0));
        for (int index = 1; index < context.product().size(); index++) {
            Expr left = result;
            Expr right = product(context.product(index));
            Expr both = context.operators.get(index - 1).getText().equals("+")
                    ? frame -> Operators.plus(left.eval(frame), right.eval(frame), frame.meter)
                    : frame -> Operators.arithmetic('-', left.eval(frame), right.eval(frame));
            result = fold(both, left, right);
        }
        return result;
    }

    private Expr product(RuleSqlParser.ProductContext context) {
        Expr result = unary(context.unary(0));
        for (int index = 1; index < context.unary().size(); index++) {
            Expr left = result;
            Expr right = unary(context.unary(index));
            Token operator = context.operators.get(index - 1);
            Expr both = switch (operator.getType()) {
                case RuleSqlParser.DIV -> frame -> Operators.integers(true, left.eval(frame), right.eval(frame));
                case RuleSqlParser.MOD -> frame -> Operators.integers(false, left.eval(frame), right.eval(frame));
                default -> {
                    char sign = operator.getText().charAt(0);
                    yield frame -> Operators.arithmetic(sign, left.eval(frame), right.eval(frame));
                }
            };
            result = fold(both, left, right);
        }
        return result;
    }

    private Expr unary(RuleSqlParser.UnaryContext context) {
        if (context instanceof RuleSqlParser.MinusContext minus) {
            Expr inner = unary(minus.unary());
            return fold(frame -> Operators.negate(inner.eval(frame)), inner);
        }
        if (context instanceof RuleSqlParser.PlusContext plus) {
            Expr inner = unary(plus.unary());
            return fold(frame -> Operators.arithmetic('+', 0L, inner.eval(frame)), inner);
        }
        return path((RuleSqlParser.PathContext) context);
    }

    private Expr path(RuleSqlParser.PathContext context) {
        List<RuleSqlParser.StepContext> steps = context.step();
        if (steps.isEmpty()) {
            return primary(context.primary(), false);
        }
        int from = 0;
        Expr result;
        if (isPayload(context.primary())) {
            List<Object> front = new ArrayList<>();
            while (from < steps.size()) {
                Object step = constantStep(steps.get(from));
                if (step == null || !PulledPaths.isPullable(step)) {
                    break;
                }
                front.add(step);
                from++;
            }
            if (front.isEmpty()) {
                scope.paths.needWhole();
                result = frame -> frame.input.payload().tree(frame.meter);
            } else {
                int slot = scope.paths.add(front);
                result = frame -> frame.pulled(slot);
            }
        } else {
            result = primary(context.primary(), true);
        }
        for (RuleSqlParser.StepContext step : steps.subList(from, steps.size())) {
            result = step(result, step);
        }
        return result;
    }

    private boolean isPayload(RuleSqlParser.PrimaryContext context) {
        return (context instanceof RuleSqlParser.VariableContext || context instanceof RuleSqlParser.QuotedContext)
                && unquote(context.getText()).equals("payload")
                && scope.slot("payload") == null;
    }

    /** The key or index that a step is, or {@code null} if it depends on the event or is a range. */
    private @Nullable Object constantStep(RuleSqlParser.StepContext context) {
        if (context instanceof RuleSqlParser.StepKeyContext key) {
            return unquote(key.key().getText());
        }
        return context instanceof RuleSqlParser.StepIndexContext index
                        && index.expression().size() == 1
                        && compile(index.expression(0)) instanceof Expr.Constant constant
                        && constant.value() instanceof Long number
                ? number
                : null;
    }

    private Expr step(Expr inner, RuleSqlParser.StepContext context) {
        if (context instanceof RuleSqlParser.StepKeyContext key) {
            String name = unquote(key.key().getText());
            return frame -> Paths.key(frame.structure(inner.eval(frame)), name, frame.meter);
        }
        RuleSqlParser.StepIndexContext at = (RuleSqlParser.StepIndexContext) context;
        Expr first = compile(at.expression(0));
        if (at.expression().size() == 1) {
            return frame -> element(frame, inner.eval(frame), first.eval(frame));
        }
        Expr last = compile(at.expression(1));
        return frame -> Paths.range(
                frame.structure(inner.eval(frame)), bound(first.eval(frame)), bound(last.eval(frame)), frame.meter);
    }

    private static @Nullable Object element(Frame frame, @Nullable Object value, @Nullable Object index) {
        if (index instanceof Long number) {
            return Paths.index(frame.structure(value), number, frame.meter);
        }
        if (index instanceof String key) {
            return Paths.key(frame.structure(value), key, frame.meter);
        }
        throw new RuleFailure("an index must be an integer, not " + Values.kind(index));
    }

    private static Object range(@Nullable Object first, @Nullable Object last, Meter meter) {
        return ArrayFunctions.range(bound(first), bound(last), meter);
    }

    private static long bound(@Nullable Object value) {
        if (value instanceof Long number) {
            return number;
        }
        throw new RuleFailure("the ends of a range must be integers, not " + Values.kind(value));
    }

    private Expr primary(RuleSqlParser.PrimaryContext context, boolean withSteps) {
        if (context instanceof RuleSqlParser.GroupContext group) {
            return compile(group.expression());
        }
        if (context instanceof RuleSqlParser.IntegerContext || context instanceof RuleSqlParser.DecimalContext) {
            Object number = Values.parse(context.getText());
            if (number == null) {
                throw error(context.getStart(), "the number is too large");
            }
            return new Expr.Constant(number);
        }
        if (context instanceof RuleSqlParser.TextContext) {
            return new Expr.Constant(unquote(context.getText()));
        }
        if (context instanceof RuleSqlParser.QuotedContext || context instanceof RuleSqlParser.VariableContext) {
            return variable(context, withSteps);
        }
        if (context instanceof RuleSqlParser.CallContext call) {
            return call(call);
        }
        if (context instanceof RuleSqlParser.ChoiceContext choice) {
            return choice(choice);
        }
        return structure(context);
    }

    private Expr variable(RuleSqlParser.PrimaryContext context, boolean withSteps) {
        String name = unquote(context.getText());
        Integer slot = scope.slot(name);
        if (slot != null) {
            int known = slot;
            return frame -> frame.slots[known];
        }
        if (context instanceof RuleSqlParser.QuotedContext && !withSteps && !Scope.FIELDS.contains(name)) {
            return new Expr.Constant(name);
        }
        return switch (name) {
            case "true" -> new Expr.Constant(true);
            case "false" -> new Expr.Constant(false);
            case "null" -> new Expr.Constant(Values.NULL);
            case "undefined" -> new Expr.Constant(null);
            default -> frame -> frame.field(name);
        };
    }

    private Expr call(RuleSqlParser.CallContext context) {
        String name = context.function.getText();
        Function function = Functions.find(name);
        if (function == null) {
            throw error(context.function, Functions.unknown(name));
        }
        int count = context.expression().size();
        if (count < function.least() || count > function.most()) {
            throw error(
                    context.function,
                    function.signature() + " does not have " + (count == 1 ? "1 argument" : count + " arguments"));
        }
        if (function.name().equals("json_decode")
                && context.expression(0).getText().equals("payload")) {
            scope.paths.needWhole();
        }
        Expr[] arguments = context.expression().stream().map(this::compile).toArray(Expr[]::new);
        @Nullable Object[] constants = new Object[count];
        for (int index = 0; index < count; index++) {
            constants[index] = arguments[index] instanceof Expr.Constant constant ? constant.value() : null;
        }
        Function.Body body;
        try {
            body = function.binding().bind(constants);
        } catch (RuleFailure e) {
            throw error(context.function, String.valueOf(e.getMessage()));
        }
        Expr call = frame -> {
            frame.meter.step();
            @Nullable Object[] values = new Object[arguments.length];
            for (int index = 0; index < values.length; index++) {
                values[index] = arguments[index].eval(frame);
            }
            return body.call(new Arguments(function.name(), values, frame));
        };
        return function.fixed() ? fold(call, arguments) : call;
    }

    private Expr choice(RuleSqlParser.ChoiceContext context) {
        Expr subject = context.subject == null ? null : compile(context.subject);
        int count = context.branch().size();
        Expr[] conditions = new Expr[count];
        Expr[] results = new Expr[count];
        for (int index = 0; index < count; index++) {
            conditions[index] = compile(context.branch(index).expression(0));
            results[index] = compile(context.branch(index).expression(1));
        }
        Expr otherwise = context.otherwise == null ? new Expr.Constant(null) : compile(context.otherwise);
        if (subject == null) {
            return frame -> {
                for (int index = 0; index < count; index++) {
                    if (conditions[index].test(frame)) {
                        return results[index].eval(frame);
                    }
                }
                return otherwise.eval(frame);
            };
        }
        return frame -> {
            Object value = subject.eval(frame);
            for (int index = 0; index < count; index++) {
                if (Comparisons.equal(value, conditions[index].eval(frame), frame.meter)) {
                    return results[index].eval(frame);
                }
            }
            return otherwise.eval(frame);
        };
    }

    private Expr structure(RuleSqlParser.PrimaryContext context) {
        if (context instanceof RuleSqlParser.ArrayContext array) {
            Expr[] elements = array.expression().stream().map(this::compile).toArray(Expr[]::new);
            return array.to == null
                    ? fold(frame -> ArrayFunctions.list(elements, frame), elements)
                    : fold(frame -> range(elements[0].eval(frame), elements[1].eval(frame), frame.meter), elements);
        }
        RuleSqlParser.MapContext map = (RuleSqlParser.MapContext) context;
        List<String> keys = map.entry().stream()
                .map(entry -> unquote(entry.getStart().getText()))
                .toList();
        Expr[] values =
                map.entry().stream().map(entry -> compile(entry.expression())).toArray(Expr[]::new);
        return fold(frame -> MapFunctions.map(keys, values, frame), values);
    }

    /** The value instead of the expression, if all parts are constant. A failure stays one of the evaluation. */
    private static Expr fold(Expr expr, Expr... parts) {
        for (Expr part : parts) {
            if (!(part instanceof Expr.Constant)) {
                return expr;
            }
        }
        try {
            return new Expr.Constant(expr.eval(new Frame(NOTHING, new Meter(FOLDING), 0, new PulledPaths())));
        } catch (RuleFailure e) {
            return expr;
        }
    }

    /**
     * Where a value without AS is put: the path that it was taken from. Ranges do not count.
     *
     * @return name, keys and indexes, or {@code null} if the expression is no path
     */
    @Nullable
    List<Object> pathOf(RuleSqlParser.ExpressionContext context) {
        if (!(only(context) instanceof RuleSqlParser.PathContext path)
                || !(path.primary() instanceof RuleSqlParser.VariableContext
                        || path.primary() instanceof RuleSqlParser.QuotedContext)) {
            return null;
        }
        List<Object> steps = new ArrayList<>();
        steps.add(unquote(path.primary().getText()));
        for (RuleSqlParser.StepContext step : path.step()) {
            if (step instanceof RuleSqlParser.StepIndexContext at
                    && at.expression().size() > 1) {
                continue;
            }
            Object constant = constantStep(step);
            if (constant == null) {
                return null;
            }
            steps.add(constant);
        }
        return steps;
    }

    /** The innermost part of an expression that has no operators. */
    private static @Nullable ParserRuleContext only(ParserRuleContext context) {
        ParserRuleContext inner = context;
        while (inner.getChildCount() == 1 && inner.getChild(0) instanceof ParserRuleContext child) {
            if (inner instanceof RuleSqlParser.PathContext) {
                return inner;
            }
            inner = child;
        }
        return inner instanceof RuleSqlParser.PathContext ? inner : null;
    }
}
