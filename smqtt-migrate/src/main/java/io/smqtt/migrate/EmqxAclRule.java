// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.netty.util.NetUtil;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A rule of acl.conf.
 *
 * @param line where it is
 * @param allows whether it allows
 * @param who for whom it is; empty if this cannot be said in an ACL file
 * @param access read, write or readwrite; empty if this cannot be said
 * @param topics its topics
 */
record EmqxAclRule(int line, boolean allows, List<Who> who, String access, List<Topic> topics) {

    /**
     * Clients.
     *
     * @param user their user, or null for all
     * @param networks their networks; empty for all
     */
    record Who(@Nullable String user, List<String> networks) {

        static final Who ALL = new Who(null, List.of());
    }

    /**
     * A topic of a rule.
     *
     * @param filter the filter in the syntax of ACL files
     * @param pattern whether it has placeholders
     * @param isKnown whether it can be said in an ACL file
     */
    record Topic(String filter, boolean pattern, boolean isKnown) {

        static final Topic ALL = new Topic("#", false, true);
    }

    private static final Pattern WORD = Pattern.compile("\\^([A-Za-z0-9_@-]+)\\$");
    private static final int MAX_WHO = 100;

    /** Reads a rule; null if it is not one. */
    static @Nullable EmqxAclRule of(ErlangTerms.Placed placed) {
        if (!(placed.term() instanceof ErlangTerms.Tuple tuple)
                || tuple.items().size() < 2
                || tuple.items().size() > 4) {
            return null;
        }
        List<ErlangTerms.Term> items = tuple.items();
        String permission = atom(items.get(0));
        if (!permission.equals("allow") && !permission.equals("deny")) {
            return null;
        }
        String access = items.size() < 3 ? "readwrite" : access(items.get(2));
        List<Topic> topics = new ArrayList<>();
        if (items.size() < 4) {
            topics.add(Topic.ALL);
        } else {
            elements(items.get(3)).forEach(term -> topics.add(topic(term)));
        }
        return new EmqxAclRule(placed.line(), permission.equals("allow"), who(items.get(1)), access, topics);
    }

    /** Whether it decides everything, so that no later rule counts. */
    boolean isFinal() {
        return who.equals(List.of(Who.ALL)) && access.equals("readwrite") && topics.contains(Topic.ALL);
    }

    /** Whether an ACL file can have this rule for one of its topics. */
    boolean canSay(Topic topic) {
        boolean own = who.stream().anyMatch(one -> one.user() != null);
        return !who.isEmpty() && !access.isEmpty() && topic.isKnown() && !(own && topic.pattern());
    }

    /** Whether both may be about one action. */
    boolean sharesAccess(EmqxAclRule other) {
        return !(access.equals("read") && other.access.equals("write"))
                && !(access.equals("write") && other.access.equals("read"));
    }

    private static String atom(ErlangTerms.Term term) {
        return term instanceof ErlangTerms.Atom name ? name.name() : "";
    }

    /** The elements of a list; another term is its own only element. */
    private static List<ErlangTerms.Term> elements(ErlangTerms.Term term) {
        return term instanceof ErlangTerms.Items items ? items.items() : List.of(term);
    }

    private static String access(ErlangTerms.Term term) {
        return switch (atom(term)) {
            case "publish" -> "write";
            case "subscribe" -> "read";
            case "all", "pubsub" -> "readwrite";
            default -> ""; // with QoS or retain
        };
    }

    private static Topic topic(ErlangTerms.Term term) {
        boolean literal = term instanceof ErlangTerms.Tuple;
        ErlangTerms.Term named = term instanceof ErlangTerms.Tuple tuple
                        && tuple.items().size() == 2
                        && atom(tuple.items().get(0)).equals("eq")
                ? tuple.items().get(1)
                : term;
        if (!(named instanceof ErlangTerms.Text text)) {
            return new Topic("#", false, false);
        }
        String filter = text.value().replace("${clientid}", "%c").replace("${username}", "%u");
        boolean pattern = !filter.equals(text.value());
        boolean plain = !text.value().contains("%c") && !text.value().contains("%u") && !filter.contains("${");
        boolean wildcard = filter.indexOf('#') >= 0 || filter.indexOf('+') >= 0;
        return new Topic(filter, pattern, plain && isFilter(filter) && !(literal && wildcard));
    }

    private static boolean isFilter(String filter) {
        try {
            TopicFilter.of(filter);
            return filter.equals(filter.strip()) && filter.chars().noneMatch(c -> c < ' ');
        } catch (InvalidTopicException e) {
            return false;
        }
    }

    private static List<Who> who(ErlangTerms.Term term) {
        if (atom(term).equals("all")) {
            return List.of(Who.ALL);
        }
        if (!(term instanceof ErlangTerms.Tuple tuple) || tuple.items().size() != 2) {
            return List.of();
        }
        ErlangTerms.Term value = tuple.items().get(1);
        return switch (atom(tuple.items().get(0))) {
            case "user", "username" -> user(value);
            case "ipaddr", "ipaddrs" -> networks(elements(value));
            case "or" -> any(elements(value));
            case "and" -> both(elements(value));
            default -> List.of();
        };
    }

    private static List<Who> user(ErlangTerms.Term term) {
        String name = "";
        if (term instanceof ErlangTerms.Text text) {
            name = text.value();
        } else if (term instanceof ErlangTerms.Tuple tuple
                && tuple.items().size() == 2
                && tuple.items().get(1) instanceof ErlangTerms.Text expression) {
            Matcher word = WORD.matcher(expression.value());
            name = word.matches() ? word.group(1) : "";
        }
        boolean plain =
                !name.isEmpty() && name.equals(name.strip()) && name.chars().noneMatch(c -> c < ' ');
        return plain ? List.of(new Who(name, List.of())) : List.of();
    }

    private static List<Who> networks(List<ErlangTerms.Term> terms) {
        List<String> networks = new ArrayList<>();
        for (ErlangTerms.Term term : terms) {
            if (!(term instanceof ErlangTerms.Text text) || !isNetwork(text.value())) {
                return List.of();
            }
            networks.add(text.value());
        }
        return networks.isEmpty() ? List.of() : List.of(new Who(null, List.copyOf(networks)));
    }

    private static boolean isNetwork(String text) {
        int slash = text.indexOf('/');
        byte[] address = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
        String prefix = slash < 0 ? "0" : text.substring(slash + 1);
        boolean plain = text.indexOf('%') < 0 && text.indexOf('[') < 0;
        return address != null
                && plain
                && prefix.matches("[0-9]{1,3}")
                && Integer.parseInt(prefix) <= address.length * 8;
    }

    private static List<Who> any(List<ErlangTerms.Term> terms) {
        List<Who> all = new ArrayList<>();
        for (ErlangTerms.Term term : terms) {
            List<Who> one = who(term);
            if (one.isEmpty() || all.size() > MAX_WHO) {
                return List.of();
            }
            all.addAll(one);
        }
        return List.copyOf(all);
    }

    /** A user in networks; other intersections cannot be said. */
    private static List<Who> both(List<ErlangTerms.Term> terms) {
        Who joined = Who.ALL;
        for (ErlangTerms.Term term : terms) {
            List<Who> one = who(term);
            if (one.size() != 1) {
                return List.of();
            }
            Who next = one.get(0);
            boolean twice = (joined.user != null && next.user != null)
                    || (!joined.networks.isEmpty() && !next.networks.isEmpty());
            if (twice) {
                return List.of();
            }
            joined = new Who(
                    next.user == null ? joined.user : next.user,
                    next.networks.isEmpty() ? joined.networks : next.networks);
        }
        return List.of(joined);
    }
}
