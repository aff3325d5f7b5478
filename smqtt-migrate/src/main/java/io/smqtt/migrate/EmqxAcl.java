// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The rules of acl.conf as those of an ACL file. There the first rule that applies decides, here a denying one always wins, and what no rule
 * allows is denied. So the result may deny more, never less, except for what is reported.
 */
final class EmqxAcl {

    private static final int MAX_RULES = 1_000;

    private final Draft draft;
    private final List<EmqxAclRule> rules = new ArrayList<>();
    private String shownAs = "acl.conf";
    private boolean denies;

    EmqxAcl(Draft draft) {
        this.draft = draft;
    }

    /**
     * Reads the rules of a file.
     *
     * @param setting names the file
     * @param required whether it must be there
     * @return whether its last rule decides everything
     */
    boolean file(OldSetting setting, EmqxPaths paths, boolean required) {
        Path path = Path.of(paths.of(setting));
        if (!Files.isRegularFile(path)) {
            if (required) {
                draft.problem(setting, "names a file that cannot be read");
            } else {
                draft.note(
                        "acl.conf",
                        Outcome.DIFFERENT,
                        "is not beside the file, so clients may do everything, and read $SYS; EMQX's own denies $SYS/# and #");
            }
            return false;
        }
        return read(OldFile.read(path, String.valueOf(path.getFileName())));
    }

    /** Reads rules that are in the configuration itself. */
    boolean text(OldSetting setting) {
        return read(new OldFile(Path.of("acl.conf"), setting.where() + ": rules", setting.value()));
    }

    private boolean read(OldFile file) {
        shownAs = file.shownAs();
        List<ErlangTerms.Placed> terms = ErlangTerms.read(file);
        if (terms.size() > MAX_RULES) {
            throw file.problem(1, "has more than 1,000 rules");
        }
        for (ErlangTerms.Placed term : terms) {
            EmqxAclRule rule = EmqxAclRule.of(term);
            if (rule == null) {
                throw file.problem(term.line(), "is not a rule such as {allow, {user, \"a\"}, publish, [\"t/#\"]}.");
            }
            rules.add(rule);
            if (rule.isFinal()) {
                return true;
            }
        }
        return false;
    }

    /** Whether there is a denying rule. */
    boolean denies() {
        return denies;
    }

    /**
     * Writes the rules.
     *
     * @param allowsRest whether everything that no rule mentions is allowed
     * @param needed whether there must be a file, even if it allows everything
     */
    void finish(boolean allowsRest, boolean needed) {
        if (rules.isEmpty() && !needed) {
            return;
        }
        draft.rule("# " + shownAs.replaceAll("\\p{Cntrl}", " ") + ": what no rule allows is denied");
        for (int i = 0; i < rules.size(); i++) {
            EmqxAclRule rule = rules.get(i);
            for (EmqxAclRule.Topic topic : rule.topics()) {
                topic(rule, topic, rules.subList(i + 1, rules.size()), allowsRest);
            }
            later(rule, rules.subList(i + 1, rules.size()), allowsRest);
        }
        if (allowsRest) {
            draft.rule("# everything else, as no_match says");
            draft.rule("pattern readwrite #");
        }
    }

    private void topic(EmqxAclRule rule, EmqxAclRule.Topic topic, List<EmqxAclRule> after, boolean allowsRest) {
        denies |= !rule.allows();
        if (!rule.allows() && !mayBeAllowed(topic, after, allowsRest)) {
            draft.rule("# line " + rule.line() + ": nothing allows " + (topic.isKnown() ? topic.filter() : "it"));
        } else if (!rule.canSay(topic)) {
            draft.note(
                    shownAs + ":" + rule.line(),
                    rule.allows() ? Outcome.NONE : Outcome.UNGUARDED,
                    rule.allows()
                            ? "an ACL file cannot say this rule; write what it allows to access.acl-file"
                            : "an ACL file cannot say this denying rule: it has rules for users and networks, for whole filters");
        } else {
            rule.who().forEach(who -> write(rule, who, topic));
        }
    }

    private void write(EmqxAclRule rule, EmqxAclRule.Who who, EmqxAclRule.Topic topic) {
        String tail = (rule.allows() ? " " : " deny ") + rule.access() + " " + topic.filter();
        if (who.user() != null) {
            draft.rule("user " + who.user());
        }
        if (!who.networks().isEmpty()) {
            draft.rule("address " + String.join(" ", who.networks()));
        }
        draft.rule((who.user() == null ? "pattern" : "topic") + tail);
        if (!who.networks().isEmpty()) {
            draft.rule("address any");
        }
    }

    /** Whether something after a denying rule could allow one of its topics; otherwise the rule is not needed. */
    private static boolean mayBeAllowed(EmqxAclRule.Topic topic, List<EmqxAclRule> after, boolean allowsRest) {
        return (allowsRest && overlaps(topic.filter(), "#"))
                || after.stream()
                        .filter(EmqxAclRule::allows)
                        .flatMap(rule -> rule.topics().stream())
                        .anyMatch(other -> overlaps(topic.filter(), other.filter()));
    }

    /** Reports a denying rule that wins over an earlier allowing one. */
    private void later(EmqxAclRule rule, List<EmqxAclRule> after, boolean allowsRest) {
        if (!rule.allows()) {
            return;
        }
        for (int i = 0; i < after.size(); i++) {
            EmqxAclRule other = after.get(i);
            List<EmqxAclRule> rest = after.subList(i + 1, after.size());
            boolean wins = !other.allows()
                    && rule.sharesAccess(other)
                    && other.topics().stream()
                            .anyMatch(topic -> other.canSay(topic)
                                    && mayBeAllowed(topic, rest, allowsRest)
                                    && rule.topics().stream().anyMatch(own -> overlaps(own.filter(), topic.filter())));
            if (wins) {
                draft.note(
                        shownAs + ":" + rule.line(),
                        Outcome.DIFFERENT,
                        "access.acl-file: the denying rule in line " + other.line() + " wins over this one");
                return;
            }
        }
    }

    /** Whether two filters may match one topic; in doubt true. */
    static boolean overlaps(String a, String b) {
        String[] left = a.split("/", -1);
        String[] right = b.split("/", -1);
        if (a.startsWith("$") != b.startsWith("$") && (isWild(left[0]) || isWild(right[0]))) {
            return false; // wildcards do not match topics that begin with $
        }
        for (int i = 0; i < Math.max(left.length, right.length); i++) {
            String one = i < left.length ? left[i] : "";
            String two = i < right.length ? right[i] : "";
            if (one.equals("#") || two.equals("#")) {
                return true;
            }
            boolean ends = i >= left.length || i >= right.length;
            if (ends || (!isWild(one) && !isWild(two) && !one.equals(two))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isWild(String level) {
        return level.equals("#") || level.equals("+") || level.contains("%");
    }
}
