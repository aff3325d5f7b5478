/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The language of rules: docs/rules-sql.md.
 */
grammar RuleSql;

options { caseInsensitive = true; }

statement : (select | foreach) ';'? EOF ;

select : SELECT columns FROM sources (WHERE condition=expression)? ;

foreach
    : FOREACH binding (',' binding)*
      (DO columns)?
      (INCASE incase=expression)?
      FROM sources
      (WHERE condition=expression)?
    ;

sources : source (',' source)* ;
source : STRING | QUOTED ;

columns : column (',' column)* ;
column
    : '*'                          # everything
    | expression (AS target)?      # value
    ;

binding : expression (AS name)? ;

/* Where a value is put: a.b[1].c; [0] is in front of all elements, [-0] behind them. */
target : name place* ;
place
    : '.' key                      # placeKey
    | '[' '-'? INTEGER ']'         # placeIndex
    ;

expression : conjunction (OR conjunction)* ;
conjunction : negation (AND negation)* ;
negation
    : NOT negation                 # not
    | comparison                   # compare
    ;
comparison : sum test? ;
test
    : operator=('=' | '!=' | '<>' | '<' | '>' | '<=' | '>=' | '=~') sum    # relation
    | NOT? IN '(' expression (',' expression)* ')'                         # membership
    ;
sum : product (operators+=('+' | '-') product)* ;
product : unary (operators+=('*' | '/' | DIV | MOD) unary)* ;
unary
    : '-' unary                    # minus
    | '+' unary                    # plus
    | primary step*                # path
    ;
step
    : '.' key                                  # stepKey
    | '[' expression ('..' expression)? ']'    # stepIndex
    ;

primary
    : '(' expression ')'                                                  # group
    | INTEGER                                                             # integer
    | DECIMAL                                                             # decimal
    | STRING                                                              # text
    | QUOTED                                                              # quoted
    | function=(NAME | MOD | DIV) '(' (expression (',' expression)*)? ')' # call
    | '[' (expression (to='..' expression | (',' expression)+)?)? ']'     # array
    | '{' (entry (',' entry)*)? '}'                                       # map
    | CASE subject=expression? branch+ (ELSE otherwise=expression)? END   # choice
    | (NAME | BACKQUOTED)                                                 # variable
    ;
branch : WHEN expression THEN expression ;
entry : (STRING | QUOTED | NAME) ':' expression ;

name : NAME | STRING | QUOTED | BACKQUOTED ;

/* Behind a dot every word is a key. */
key
    : name
    | SELECT | FROM | WHERE | FOREACH | DO | INCASE | AS | OR | AND | NOT | IN | DIV | MOD | CASE | WHEN | THEN | ELSE | END
    ;

SELECT : 'select' ;
FROM : 'from' ;
WHERE : 'where' ;
FOREACH : 'foreach' ;
DO : 'do' ;
INCASE : 'incase' ;
AS : 'as' ;
OR : 'or' ;
AND : 'and' ;
NOT : 'not' ;
IN : 'in' ;
DIV : 'div' ;
MOD : 'mod' ;
CASE : 'case' ;
WHEN : 'when' ;
THEN : 'then' ;
ELSE : 'else' ;
END : 'end' ;

INTEGER : DIGIT+ ;
DECIMAL : DIGIT+ '.' DIGIT+ EXPONENT? | DIGIT+ EXPONENT ;
fragment DIGIT : [0-9] ;
fragment EXPONENT : 'e' [+-]? DIGIT+ ;

/* A quotation mark inside is written twice. A backslash is a character like any other. */
STRING : '\'' (~'\'' | '\'\'')* '\'' ;
QUOTED : '"' (~'"' | '""')* '"' ;
BACKQUOTED : '`' ~'`'+ '`' ;

NAME : [\p{L}_] [\p{L}\p{N}_]* ;

COMMENT : ('--' ~[\r\n]* | '/*' .*? '*/') -> skip ;
SPACE : [ \t\r\n\f]+ -> skip ;

/* So that a character that has no meaning is a mistake of the statement, with its place. */
OTHER : . ;
