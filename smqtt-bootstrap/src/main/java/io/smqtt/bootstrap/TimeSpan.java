// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads durations of flags: a number and one of the units s, m, h and d. */
final class TimeSpan implements ITypeConverter<Duration> {

    private static final Pattern SPAN = Pattern.compile("([0-9]{1,9})([smhd])");

    @Override
    public Duration convert(String text) {
        Matcher parts = SPAN.matcher(text);
        if (!parts.matches()) {
            throw new TypeConversionException("it takes a number with a unit, such as 90s, 30m, 12h or 7d");
        }
        long number = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }
}
